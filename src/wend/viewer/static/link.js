// The link to the server: a WebSocket that is opened again when it is lost, as a declared state machine.
//
// Its host has these methods: heard(message), framed(frame), linkChanged(state, seconds until the next try, reason).

import { PROTOCOL, readFrame } from "./frames.js";

const FIRST_WAIT = 0.5; // seconds until the first try to reconnect; every further one waits twice as long
const LONGEST_WAIT = 8;

/** For each state, what each signal leads to. */
const MACHINE = {
  closed: { try: "connecting" },
  connecting: { open: "greeting", lost: "waiting" },
  greeting: { welcome: "open", lost: "waiting", refused: "refused" },
  open: { lost: "waiting", refused: "refused" },
  waiting: { try: "connecting" },
  refused: { try: "connecting" }, // the server closed the door for a reason: only the reader tries again
};

const REFUSED = 1008; // the close code of a server that would say the same again

export class Link {
  constructor(host) {
    this.host = host;
    this.state = "closed";
    this.wait = FIRST_WAIT;
  }

  send(message) {
    if (this.state !== "open" && message.type !== "hello") return false;
    if (this.socket.readyState !== WebSocket.OPEN) return false; // it closes, and has not said so yet
    this.socket.send(JSON.stringify(message));
    return true;
  }

  signal(name, seconds = 0, reason = "") {
    const to = MACHINE[this.state][name];
    if (to === undefined) return;
    this.state = to;
    this.host.linkChanged(to, seconds, reason);
  }

  /** Connect now, whatever was waited for. */
  connect() {
    if (MACHINE[this.state].try === undefined) return; // it is being tried, or connected
    clearTimeout(this.timer);
    this.signal("try");
    const address = new URL(`live${location.search}`, location.href);
    address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(address);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.signal("open");
      this.send({ type: "hello", version: PROTOCOL });
    };
    socket.onmessage = ({ data }) => this.receive(data);
    socket.onclose = (event) => this.lost(event);
    this.socket = socket;
  }

  receive(data) {
    if (typeof data !== "string") return this.host.framed(readFrame(data));
    const message = JSON.parse(data);
    if (message.type === "welcome") {
      this.wait = FIRST_WAIT;
      this.signal("welcome");
    }
    return this.host.heard(message);
  }

  lost({ code, reason }) {
    if (code === REFUSED) {
      this.signal("refused", 0, reason || "no reason given");
      return;
    }
    const seconds = this.wait;
    this.wait = Math.min(2 * this.wait, LONGEST_WAIT);
    this.timer = setTimeout(() => this.connect(), 1000 * seconds);
    this.signal("lost", seconds, reason);
  }
}
