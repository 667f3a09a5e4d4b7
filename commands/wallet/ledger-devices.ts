/** The hardware wallets that are connected, as Ledger's package of the transport shows them. */

import { Problem } from '../ui/problem.ts'

/** An open connection to a device; Ledger's package of the app uses more of it than svc. */
export interface LedgerTransport {
  /** One exchange. Resolves with the answer, which ends in the status OK; any other status is an error. */
  send(cla: number, ins: number, p1: number, p2: number, data: Buffer): Promise<Uint8Array>
  close(): Promise<void>
}

export interface LedgerDevices {
  /** A descriptor of each device, which opens it. */
  list(): Promise<readonly unknown[]>
  open(descriptor: unknown): Promise<LedgerTransport>
}

/** The state of a device, or the answer of its person. A retry would ask again what was just answered. */
export class LedgerProblem extends Problem {}
