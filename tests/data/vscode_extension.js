// The extension without VS Code: `node vscode_extension.js EXTENSION`. Prints as JSON what it registers and
// what it would start.
const Module = require("module");

const said = { settings: {}, clients: [] };
const settings = { command: ["ptxkit", "lsp"], debugAdapter: ["some", "where", "ptxkit", "dap"] };
const factories = {};
let open;
const vscode = {
  debug: {
    registerDebugAdapterDescriptorFactory: (type, factory) => (factories[type] = factory),
    registerDebugConfigurationProvider: (type, provider) => (factories[`${type} configurations`] = provider),
  },
  window: {
    get activeTextEditor() {
      return open;
    },
  },
  workspace: { getConfiguration: () => ({ get: (name) => settings[name] }) },
  DebugAdapterExecutable: class {
    constructor(command, args) {
      Object.assign(this, { command, args });
    }
  },
};
class LanguageClient {
  constructor(name, server) {
    said.clients.push(server);
  }
  start() {}
  stop() {}
}
const load = Module._load;
Module._load = (name, ...rest) =>
  name === "vscode" ? vscode : name === "vscode-languageclient/node" ? { LanguageClient } : load(name, ...rest);

const subscriptions = [];
require(process.argv[2]).activate({ subscriptions });
const resolve = factories["ptxkit configurations"].resolveDebugConfiguration;
said.adapter = factories.ptxkit.createDebugAdapterDescriptor();
said.subscriptions = subscriptions.length;
said.given = resolve(undefined, { type: "ptxkit", program: "a.ptx" });
said.nothing = resolve(undefined, {}) ?? null;
open = { document: { languageId: "ptx", fileName: "/x/tile.ptx" } };
said.open = resolve(undefined, {});
console.log(JSON.stringify(said));
