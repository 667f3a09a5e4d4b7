/**
 * Describes a decoded transaction without a network call: the name of every instruction, the roles of accounts,
 * amounts and fee.
 */

import { describeInstruction } from '../../../src/chain/instructions/describe.ts'
import type { DecodedMessage } from '../../../src/solana/decoded-message.ts'
import { feeOfMessage } from '../../../src/solana/fees.ts'
import { lifetimeOf } from '../../../src/solana/lifetimes.ts'
import {
  ASSOCIATED_TOKEN_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
  WRAPPED_SOL,
} from '../../../src/solana/program-ids.ts'
import { namedPlaces, proposedMessage, unwrapMessage } from '../../../src/solana/squads/index.ts'
import type { DescribedContent, TransactionContent } from '../../signing/wallet.ts'
import { instructionsIn } from './message-instructions.ts'

type Content = TransactionContent['instructions']
type Described = DescribedContent['instructions']

export function describedContent(content: TransactionContent, message: DecodedMessage): DescribedContent {
  return {
    ...content,
    fee: String(feeOfMessage(message)),
    nonce_account: lifetimeOf(message).nonceAccount,
    instructions: described(content.instructions),
  }
}

const described = (instructions: Content): Described =>
  withMints(
    instructions.map(({ accounts, ...rest }) => {
      const addresses = accounts.map(({ address }) => address)
      const data = Buffer.from(rest.data, 'hex')
      const { instruction, roles, args } = describeInstruction(rest.program, addresses, data)
      const inner = proposedMessage(rest.program, data)
      return {
        ...rest,
        instruction,
        args,
        accounts: accounts.map((account, i) => ({ ...account, role: roles[i] ?? null })),
        ...(inner === null
          ? {}
          : { inner: described(instructionsIn(unwrapMessage({ ...inner, loaded: namedPlaces(inner) }))) }),
      }
    }),
  )

/**
 * Adds the mint and decimals of an amount if another instruction shows them: one that opens the token account, or
 * names the mint's decimals. If they were wrong, the transaction would fail on chain.
 */
function withMints(instructions: Described): Described {
  const mints = new Map<string, string>()
  const decimals = new Map<string, number>()
  for (const { program, accounts, args } of instructions) {
    if (!TELLING.includes(program)) continue
    const at = (role: string) => accounts.find((account) => account.role === role)?.address
    const mint = at('mint')
    if (mint === undefined) continue
    // For the token programs a source is a token account; for the other program it is the payer.
    for (const role of program === ASSOCIATED_TOKEN_PROGRAM ? ['account'] : ['account', 'source', 'destination']) {
      const account = at(role)
      if (account !== undefined) mints.set(account, mint)
    }
    const own = args.find(({ name }) => name === 'decimals')?.value
    if (own !== undefined) decimals.set(mint, Number(own))
  }
  return instructions.map((instruction) => ({
    ...instruction,
    args: instruction.args.map((arg) => {
      if (arg.unit !== 'tokens' || arg.of === null) return arg
      const mint = mints.get(arg.of) ?? (decimals.has(arg.of) || arg.of === WRAPPED_SOL ? arg.of : null)
      return { ...arg, mint, decimals: arg.decimals ?? (mint === null ? null : (decimals.get(mint) ?? null)) }
    }),
  }))
}

const TELLING: readonly string[] = [TOKEN_PROGRAM, TOKEN_2022_PROGRAM, ASSOCIATED_TOKEN_PROGRAM]
