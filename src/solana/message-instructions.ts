/** Lists the instructions of a decoded message with the names of their programs and the flags of their accounts. */
import type { DecodedMessage } from './decoded-message.ts'
import type { ReadInstruction } from './guards.ts'
import type { LoadedAddresses } from './lookup-tables.ts'
import { isWritable } from './messages.ts'
import { programName } from './programs.ts'
import { namedPlaces } from './squads/index.ts'

export interface MessageInstruction {
  program: string
  /** The program's name; null for a program that svc does not know. */
  name: string | null
  /** The accounts; those of a lookup table are shown as `TABLE[place]`. */
  accounts: { address: string; signer: boolean; writable: boolean }[]
  /** The instruction data in hex. */
  data: string
}

/** The instruction with addresses and bytes alone. */
export const bareInstruction = ({ program, accounts, data }: MessageInstruction): ReadInstruction => ({
  program,
  accounts: accounts.map(({ address }) => address),
  data: Buffer.from(data, 'hex'),
})

/**
 * The instructions of a message with their accounts. Without the addresses of its lookup tables, which are on chain, an
 * account of a table is shown as `TABLE[place]`.
 */
export function instructionsIn(message: DecodedMessage, loaded = namedPlaces(message)): MessageInstruction[] {
  const accounts = accountsIn(message, loaded)
  const at = (index: number) => accounts[index] ?? unreadable(index)
  return message.instructions.map(({ programIdIndex, accounts: used, data }) => {
    const program = at(programIdIndex).address
    return {
      program,
      name: programName(program),
      accounts: [...used].map(at),
      data: Buffer.from(data).toString('hex'),
    }
  })
}

function unreadable(index: number): never {
  throw new Error(`the transaction has no account ${index}`)
}

/** The message's own accounts, then those of lookup tables, writable ones first. */
function accountsIn(message: DecodedMessage, loaded: LoadedAddresses): MessageInstruction['accounts'] {
  const own = message.keys.map((address, i) => ({
    address,
    signer: i < message.signers,
    writable: isWritable(message, 0, i),
  }))
  const lookedUp = (addresses: readonly string[], writable: boolean) =>
    addresses.map((address) => ({ address, signer: false, writable }))
  return [...own, ...lookedUp(loaded.writable, true), ...lookedUp(loaded.readonly, false)]
}
