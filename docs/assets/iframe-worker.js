// Search without a server: browsers start no worker from a file, so here an inner frame plays the worker.
if (location.protocol === "file:") {
  window.IFrameWorker = window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = (this.frame = document.createElement("iframe"));
      frame.hidden = true;
      this.ready = new Promise((resolve) => (this.loaded = resolve));
      addEventListener("message", (event) => {
        if (event.source !== frame.contentWindow) return;
        const message = new MessageEvent("message", { data: event.data });
        if (this.onmessage) this.onmessage(message);
        this.dispatchEvent(message);
      });
      document.body.append(frame);
      const inner = frame.contentWindow;
      inner.postMessage = (data) => dispatchEvent(new MessageEvent("message", { data, source: inner }));
      inner.importScripts = async (...paths) => {
        for (const path of paths) await this.load(path);
      };
      this.load(url).then(this.loaded);
    }

    load(path) {
      const script = this.frame.contentDocument.createElement("script");
      script.src = path;
      this.frame.contentDocument.body.append(script);
      return new Promise((resolve, reject) => Object.assign(script, { onload: resolve, onerror: reject }));
    }

    postMessage(data) {
      const send = () => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }));
      this.ready.then(send);
    }

    terminate() {
      this.frame.remove();
    }
  };
}
