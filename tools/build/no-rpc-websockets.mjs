/** Replaces rpc-websockets in the bundle with a socket that the `Connection` of @solana/web3.js never opens. */
export class CommonClient {
  /** Called for each kind of notification when a `Connection` is made. */
  on() {}

  /** Called at the first subscription. */
  connect() {
    throw new Error('Connection cannot subscribe in this program; use src/chain/nodes/node-socket.ts')
  }
}

export const WebSocket = undefined
