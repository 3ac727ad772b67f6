/** The native socket, /v1/stream: connects when it is needed, and again, ever more rarely, while the server is gone. */

import { Messages } from "./messages.js";

const FIRST_S = 0.5; // until the second attempt
const LONGEST_S = 15; // between two attempts
const BROKEN = [1001, 1005, 1006, 1011, 1012]; // how a socket closes whose server is gone, not content

/** What another attempt would not change. */
class Refusal extends Error {}

export class Stream extends Messages {
  /**
   * `listener` hears more: listed(voices) and opened(); lost(sentence), when a connection and its contexts are gone;
   * away(sentence, seconds until the next attempt), while there is no server; refused(sentence), when nobody tries again.
   * `prepare()` resolves to the first session's settings, `askKey(again)` to a key of the person's, or null.
   */
  constructor(listener, { prepare, askKey }) {
    super(listener);
    Object.assign(this, { prepare, askKey });
    this.socket = null;
    this.opening = null;
    this.knocking = null;
    this.tries = 0; // in vain, since the last connection
    this.timer = 0; // until the next one
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

  /** Tell which voices there are, before anybody speaks. That takes no place at the server. */
  async look() {
    try {
      await this.knock();
      const answer = await this.ask("v1/audio/voices");
      if (answer.ok) this.listener.listed((await answer.json()).details);
    } catch (error) {
      this.missed(error);
    }
  }

  /** Connect, if need be; while the server is gone, only when it is time. */
  connect() {
    if (this.connected || this.timer) return Promise.resolve();
    this.opening ??= this.open()
      .catch((error) => this.missed(error))
      .finally(() => {
        this.opening = null;
      });
    return this.opening;
  }

  /** Connect now, however long the next attempt would be away. */
  again() {
    clearTimeout(this.timer);
    this.timer = 0;
    return this.connect();
  }

  /** An attempt was in vain. */
  missed(error) {
    if (error instanceof Refusal) {
      this.waiting = [];
      this.listener.refused(error.message);
      return;
    }
    if (this.timer) return;
    // Not all pages that lost a server come back at the same moment.
    const waitS = Math.min(LONGEST_S, FIRST_S * 2 ** this.tries++) * (0.8 + 0.4 * Math.random());
    this.timer = setTimeout(() => this.again(), waitS * 1000);
    this.listener.away(error.message, waitS);
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
    this.tries = 0;
    socket.onclose = ({ code, reason }) => {
      if (this.socket !== socket) return;
      this.socket = null;
      this.listener.lost(reason || "The connection broke.");
      // A page that was let go while it was silent comes back when there is something to say.
      if (BROKEN.includes(code)) this.connect();
    };
    this.post({ type: "session.update", session });
    this.listener.opened();
    for (const each of this.waiting.splice(0)) this.post(typeof each === "function" ? each() : each);
  }

  /** A token to connect with; asks for a key where the server wants one. Takes no place there. */
  knock() {
    if (this.pass?.until > Date.now() / 1000) return Promise.resolve(this.pass.token);
    this.knocking ??= this.token().finally(() => {
      this.knocking = null;
    });
    return this.knocking;
  }

  async token() {
    for (;;) {
      const answer = await this.ask("v1/tokens", "POST");
      if (answer.ok) {
        const { token, expires_at: until } = await answer.json();
        this.pass = { token, until: until - 5 };
        return token;
      }
      if (answer.status !== 401) {
        const sentence = (await answer.json().catch(() => ({}))).error ?? "The server refuses.";
        throw answer.status === 429 || answer.status >= 500 ? new Error(sentence) : new Refusal(sentence);
      }
      this.key = await this.askKey(this.key !== null);
      this.refused = this.key === null;
      if (this.refused) throw new Refusal("This server needs a key.");
    }
  }

  async ask(path, method = "GET", body = undefined) {
    const headers = this.key ? { Authorization: `Bearer ${this.key}` } : {};
    try {
      return await fetch(path, { method, headers, body });
    } catch {
      throw new Error("The server does not answer.");
    }
  }

  /** Why no connection came about, as far as can be known. */
  async reason() {
    try {
      const state = await (await fetch("ready")).json();
      if (!state.ready) return "The server is at capacity.";
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
