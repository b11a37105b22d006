// Starts `ptxkit lsp` and leaves the rest to it.
const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = () => {
  const [command, ...args] = workspace.getConfiguration("ptxkit").get("command");
  client = new LanguageClient("ptxkit", { command, args }, { documentSelector: [{ language: "ptx" }] });
  return client.start();
};

exports.deactivate = () => client && client.stop();
