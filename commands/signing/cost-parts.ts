/** Divides what a transaction costs its payer into named parts, which add up to the total. */

import { solText } from '../../src/solana/amounts.ts'
import { LAMPORTS_PER_SIGNATURE } from '../../src/solana/fees.ts'
import { dividedRent } from '../../src/solana/rent.ts'
import { fieldLines } from '../ui/field-lines.ts'
import { counted } from '../ui/words.ts'
import { previewLine } from './preview.ts'
import type { SimulatedBuild } from './run-failures.ts'

interface CostPart {
  name: string
  lamports: bigint
}

/** What a command knows about the accounts that its transaction opens. */
export interface OpenedAccounts {
  /** What an account is: `the mint`. */
  nameOf(address: string, isTokenAccount: boolean): string
  /** What the accounts keep in addition to their rent. */
  kept: string
}

/** The parts in order; null if the run fails, or if the node reports neither fee nor rent. */
export function costParts(
  { simulation, content, signer }: Pick<SimulatedBuild, 'simulation' | 'content' | 'signer'>,
  { nameOf, kept }: OpenedAccounts,
): CostPart[] | null {
  const { fee, rent, balance_changes: changes } = simulation
  const paid = changes.find(({ address, mint }) => address === signer && mint === null)
  if (paid === undefined || fee === null || rent === null) return null
  const opened = changes.filter(({ created, mint, space }) => created && mint === null && space > 0)
  const rents = dividedRent(
    BigInt(rent),
    opened.map(({ space }) => space),
  )
  const isTokenAccount = (address: string) => changes.some((one) => one.address === address && one.mint !== null)
  const rentOf = (place: number) => rents[place] ?? 0n
  const network = BigInt(content.signers.length) * LAMPORTS_PER_SIGNATURE
  const parts = [
    ...opened.map(({ address }, i) => ({
      name: `rent of ${nameOf(address, isTokenAccount(address))}`,
      lamports: rentOf(i),
    })),
    { name: kept, lamports: opened.reduce((sum, { after }, i) => sum + BigInt(after) - rentOf(i), 0n) },
    { name: `transaction fee, ${counted(content.signers.length, 'signature')}`, lamports: network },
    { name: 'priority fee', lamports: BigInt(fee) - network },
  ]
  const rest = parts.reduce((left, { lamports }) => left - lamports, -BigInt(paid.change))
  return [...parts, { name: 'other', lamports: rest }].filter(({ lamports }) => lamports !== 0n)
}

/** The total and its parts. */
export function costLines(parts: readonly CostPart[] | null): string[] {
  if (parts === null) return []
  const total = parts.reduce((sum, { lamports }) => sum + lamports, 0n)
  const lines = fieldLines(parts.map(({ name, lamports }) => [name, solText(lamports)] as const))
  return [previewLine('cost', `${solText(total)} in all`), ...lines.map((line) => `    ${line}`)]
}
