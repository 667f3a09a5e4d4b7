/** Lists the instructions of a decoded message with the names of their programs and the flags of their accounts. */
import { KNOWN_PROGRAMS } from '../../../src/chain/errors/programs.ts'
import type { DecodedMessage } from '../../../src/solana/decoded-message.ts'
import { isWritable } from '../../../src/solana/messages.ts'
import type { TransactionContent } from '../../signing/wallet.ts'

type Content = TransactionContent['instructions']

/** The instructions of a message with their accounts, as far as its bytes show them. */
export function instructionsIn(message: DecodedMessage): Content {
  const accounts = accountsInMessage(message)
  return message.instructions.map(({ programIdIndex, accounts: used, data }) => {
    const program = message.keys[programIdIndex] ?? ''
    return {
      program,
      name: Object.hasOwn(KNOWN_PROGRAMS, program) ? (KNOWN_PROGRAMS[program]?.name ?? null) : null,
      accounts: [...used].map((index) => accounts[index] ?? unreadable(index)),
      data: Buffer.from(data).toString('hex'),
    }
  })
}

function unreadable(index: number): never {
  throw new Error(`the transaction has no account ${index}`)
}

/**
 * The message's own accounts, then those of lookup tables, writable ones first, each as table and index, because the
 * tables are on chain.
 */
function accountsInMessage(message: DecodedMessage): Content[number]['accounts'] {
  const lookedUp = (writable: boolean) =>
    message.lookups.flatMap((lookup) =>
      [...(writable ? lookup.writable : lookup.readonly)].map((place) => ({
        address: `${lookup.table}[${place}]`,
        signer: false,
        writable,
      })),
    )
  const own = message.keys.map((address, i) => ({
    address,
    signer: i < message.signers,
    writable: isWritable(message, 0, i),
  }))
  return [...own, ...lookedUp(true), ...lookedUp(false)]
}
