/** Waits for signatures over the WebSocket of the configured endpoints, which is loaded and connected on first use. */
import type { NodeSocket, SocketOptions } from './node-socket.ts'

/** Calls `act` once, when an endpoint reports the signature as confirmed. The returned function ends the wait. */
export type OnSignature = (signature: string, act: () => void) => () => void

export interface SignatureWaits {
  onSignature: OnSignature
  close(): void
}

export function createSignatureWaits(options: SocketOptions): SignatureWaits {
  let opening: Promise<NodeSocket> | undefined
  let opened: NodeSocket | undefined
  let isClosed = false
  const open = async (): Promise<NodeSocket> => {
    const { createNodeSocket } = await import('./node-socket.ts')
    opened = createNodeSocket(options)
    if (isClosed) opened.close()
    return opened
  }
  return {
    onSignature(signature, act) {
      if (opened !== undefined) return opened.onSignature(signature, act)
      let isOver = false
      let end = () => {}
      opening ??= open()
      void opening.then((socket) => {
        if (!isOver) end = socket.onSignature(signature, act)
      })
      return () => {
        isOver = true
        end()
      }
    },
    close() {
      isClosed = true
      opened?.close()
    },
  }
}
