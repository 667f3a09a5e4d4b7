/** Takes the place of rpc-websockets in the bundle: a socket that `Connection` of @solana/web3.js never opens. */
export class CommonClient {
  /** Called for each kind of notification when a `Connection` is made. */
  on() {}

  /** Called at the first subscription. */
  connect() {
    throw new Error('Connection cannot subscribe in this program; use src/chain/nodes/node-socket.ts')
  }
}

export const WebSocket = undefined
