/** The native socket, /v1/stream: connects when it is needed, and again when it was lost. */

import { Messages } from "./messages.js";

export class Stream extends Messages {
  /**
   * `listener` hears opened() and lost(sentence), too.
   * `prepare()` resolves to the first session's settings, `askKey(again)` to a key of the person's, or null.
   */
  constructor(listener, { prepare, askKey }) {
    super(listener);
    Object.assign(this, { prepare, askKey });
    this.socket = null;
    this.opening = null;
    this.waiting = []; // for when the socket is open: messages, or what makes one then
    this.key = null;
    this.pass = null; // {token, until}
    this.refused = false; // whether the person was asked for a key and gave none
    this.header = null; // of the sound that comes next
    this.greeted = null; // is told when the server has said what it has
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
      this.greeted = resolve;
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
    for (const each of this.waiting.splice(0)) this.post(typeof each === "function" ? each() : each);
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
      this.heard(this.header, data);
      return;
    }
    const message = JSON.parse(data);
    if (message.type === "speech.audio") this.header = message;
    else this.heard(message);
    if (message.type === "session.created") this.greeted();
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

  /** Before the socket is open, what was chosen waits its turn: `settings()` goes by what the server has by then. */
  choose(settings) {
    const message = () => ({ type: "session.update", session: settings() });
    if (this.connected) {
      this.post(message());
      return;
    }
    // Of two choices that follow each other, the last counts.
    if (typeof this.waiting.at(-1) === "function") this.waiting.pop();
    this.waiting.push(message);
  }

  cancel(context) {
    this.waiting = this.waiting.filter((message) => message.context_id !== context);
    if (this.connected) super.cancel(context);
  }
}
