// Starts `ptxkit lsp` for texts and `ptxkit dap` for launches, and leaves the rest to them.
const { debug, window, workspace, DebugAdapterExecutable } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

const commandOf = (setting) => workspace.getConfiguration("ptxkit").get(setting);

exports.activate = (context) => {
  context.subscriptions.push(
    debug.registerDebugAdapterDescriptorFactory("ptxkit", {
      createDebugAdapterDescriptor: () => {
        const [command, ...args] = commandOf("debugAdapter");
        return new DebugAdapterExecutable(command, args);
      },
    }),
    debug.registerDebugConfigurationProvider("ptxkit", {
      // Without a launch.json: the file that is open.
      resolveDebugConfiguration: (folder, given) => {
        if (given.type) return given;
        const open = window.activeTextEditor?.document;
        if (open?.languageId !== "ptx") return undefined;
        return { type: "ptxkit", request: "launch", name: "PTX on the emulator", program: open.fileName, stopOnEntry: true };
      },
    })
  );
  const [command, ...args] = commandOf("command");
  client = new LanguageClient("ptxkit", { command, args }, { documentSelector: [{ language: "ptx" }] });
  return client.start();
};

exports.deactivate = () => client && client.stop();
