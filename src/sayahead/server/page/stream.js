/** The native socket, /v1/stream: connects when it is needed, and again when it was lost. */

const PART = 1000; // characters in one message

export class Stream {
  /**
   * `listener`: created(message), opened(), audio(header, Int16Array), flushed(message), revised(message),
   * done(message), failed(message), lost(sentence).
   * `prepare()` resolves to the first session's settings, `askKey(again)` to a key of the person's, or null.
   */
  constructor(listener, { prepare, askKey }) {
    Object.assign(this, { listener, prepare, askKey });
    this.socket = null;
    this.opening = null;
    this.waiting = []; // messages for when the socket is open
    this.key = null;
    this.pass = null; // {token, until}
    this.refused = false; // whether the person was asked for a key and gave none
    this.header = null; // of the sound that comes next
  }

  get connected() {
    return this.socket?.readyState === WebSocket.OPEN;
  }

  /** Connect, if need be. */
  connect() {
    if (this.connected) return Promise.resolve();
    this.opening ??= this.open()
      .catch((error) => {
        this.waiting = [];
        this.listener.lost(error.message);
      })
      .finally(() => {
        this.opening = null;
      });
    return this.opening;
  }

  async open() {
    const token = await this.knock();
    const address = new URL("v1/stream", document.baseURI);
    address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
    address.searchParams.set("token", token);
    this.pass = null;
    const socket = new WebSocket(address);
    socket.binaryType = "arraybuffer";
    socket.onmessage = ({ data }) => this.receive(data);
    this.header = null;
    await new Promise((resolve, reject) => {
      socket.onopen = resolve;
      socket.onclose = () => this.reason().then((sentence) => reject(new Error(sentence)));
    });
    const session = await this.prepare();
    this.socket = socket;
    socket.onclose = ({ reason }) => {
      if (this.socket !== socket) return;
      this.socket = null;
      this.listener.lost(reason || "The connection broke.");
    };
    this.post({ type: "session.update", session });
    this.listener.opened();
    for (const message of this.waiting.splice(0)) this.post(message);
  }

  /** A token to connect with; asks for a key where the server wants one. Takes no place there. */
  async knock() {
    if (this.pass?.until > Date.now() / 1000) return this.pass.token;
    for (;;) {
      const headers = this.key ? { Authorization: `Bearer ${this.key}` } : {};
      let answer;
      try {
        answer = await fetch("v1/tokens", { method: "POST", headers });
      } catch {
        throw new Error("The server does not answer.");
      }
      if (answer.ok) {
        const { token, expires_at: until } = await answer.json();
        this.pass = { token, until: until - 5 };
        return token;
      }
      if (answer.status !== 401) throw new Error((await answer.json().catch(() => ({}))).error ?? "The server refuses.");
      this.key = await this.askKey(this.key !== null);
      this.refused = this.key === null;
      if (this.refused) throw new Error("This server needs a key.");
    }
  }

  /** Why no connection came about, as far as can be known. */
  async reason() {
    try {
      const state = await (await fetch("ready")).json();
      if (!state.ready) return "The server is at capacity. Try again in a few seconds.";
    } catch {
      return "The server does not answer.";
    }
    return "The server closed the connection.";
  }

  receive(data) {
    if (data instanceof ArrayBuffer) {
      this.listener.audio(this.header, new Int16Array(data));
      return;
    }
    const message = JSON.parse(data);
    const { listener } = this;
    if (message.type === "speech.audio") this.header = message;
    else if (message.type === "session.created") listener.created(message);
    else if (message.type === "speech.flushed") listener.flushed(message);
    else if (message.type === "speech.done") listener.done(message);
    else if (message.type === "speech.revised") listener.revised(message);
    else if (message.type === "error") listener.failed(message);
  }

  post(message) {
    this.socket.send(JSON.stringify(message));
  }

  send(message) {
    if (this.connected) this.post(message);
    else {
      this.waiting.push(message);
      this.connect();
    }
  }

  /** Choose for the contexts that begin later. */
  choose(session) {
    if (this.connected) this.post({ type: "session.update", session });
  }

  append(context, text) {
    for (let at = 0; at < text.length; ) {
      let end = Math.min(text.length, at + PART);
      // A character beyond the first plane is not cut in two.
      if (end < text.length && /[\ud800-\udbff]/.test(text[end - 1])) end++;
      this.send({ type: "input_text.append", context_id: context, text: text.slice(at, end) });
      at = end;
    }
  }

  /** From a code point of the context's text on, it is now `text`. */
  revise(context, { at, mark, text = "" }) {
    this.send({ type: "input_text.revise", context_id: context, at, text, revise_id: mark });
  }

  /** No more text comes for a context; it may have had none. */
  end(context) {
    this.send({ type: "input_text.end", context_id: context });
  }

  flush(context, mark, end) {
    this.send({ type: "input_text.flush", context_id: context, flush_id: mark, end });
  }

  cancel(context) {
    this.waiting = this.waiting.filter((message) => message.context_id !== context);
    if (this.connected) this.post({ type: "input_text.cancel", context_id: context });
  }
}
