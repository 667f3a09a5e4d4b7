/** Says what has to hold for the instructions of a transaction: guards as a whole, assertions of others one by one. */
import { groupedDecimalOf, solText } from '../../solana/amounts.ts'
import { type Guard, type ReadInstruction, readGuards } from '../../solana/guards.ts'
import { LIGHTHOUSE } from '../../solana/programs/lighthouse.ts'
import { conditionsOf, conditionWords } from './conditions.ts'

/** Raw units of a token account as people see them. */
type AmountText = (units: bigint, account: string) => string

/** The clauses of each instruction by its place, without repetitions. */
export function conditionTexts(
  payer: string,
  all: readonly ReadInstruction[],
  amountOf: AmountText = rawText,
): string[][] {
  const { guards, places } = readGuards(payer, all)
  if (guards.length === 0) return all.map((each) => [...new Set(conditionsOf(each).map(conditionWords))])
  const left = [...guards]
  return all.map((each, place) => {
    if (!places.includes(place) || conditionsOf(each).length === 0) return []
    const isChange = LIGHTHOUSE.nameOf(each.data) === 'assert_account_delta'
    // The last instruction of a guard says what stays as it is, and the one before it how much may leave.
    const guard = isChange ? left[0] : left.shift()
    return guard === undefined ? [] : isChange ? changeWords(guard, amountOf) : stateWords(guard, amountOf)
  })
}

function changeWords({ kind, address, change }: Guard, amountOf: AmountText): string[] {
  if (change === null) return []
  const text = (units: bigint) => (kind === 'wallet' ? solText(units) : amountOf(units, address))
  return [change > 0n ? `${address} gains at least ${text(change)}` : `${address} loses at most ${text(-change)}`]
}

function stateWords(guard: Guard, amountOf: AmountText): string[] {
  const { address } = guard
  if (guard.kind === 'wallet') return [`${address} stays a wallet of the System program without data`]
  const { delegate, delegated, closeAuthority, least, isFrozen, owner, mint } = guard
  return [
    owner === null ? `${address} stays the associated account of its owner` : `${owner} owns ${address}`,
    ...(mint === null ? [] : [`${address} holds tokens of ${mint}`]),
    `the delegate of ${address} is ${delegate ?? 'nobody'}`,
    ...(delegate === null ? [] : [`the delegate of ${address} may take at most ${amountOf(delegated, address)}`]),
    `${closeAuthority ?? 'only its owner'} may close ${address}`,
    `${address} is ${isFrozen ? '' : 'not '}frozen`,
    ...(least === 0n ? [] : [`${address} holds at least ${amountOf(least, address)}`]),
  ]
}

export const rawText = (amount: bigint): string => `${groupedDecimalOf(amount, 0)} raw units`
