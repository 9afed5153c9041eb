/*
 * Lets the search work on pages that are opened as files. Browsers start no worker from a file, so here a worker is a
 * hidden frame that runs the same script. Over HTTP nothing is changed.
 */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    #early = [];
    #inner;

    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.appendChild(frame);
      const inner = frame.contentWindow;
      inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const script = inner.document.createElement("script");
      script.src = url;
      script.onload = () => {
        this.#inner = inner;
        this.#early.forEach((data) => this.postMessage(data));
      };
      inner.document.body.appendChild(script);
    }

    postMessage(data) {
      if (this.#inner) this.#inner.dispatchEvent(new MessageEvent("message", { data }));
      else this.#early.push(data);
    }
  };
}
