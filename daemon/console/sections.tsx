/** Parts that the page of one resource has: what waits for a person about it, and reads that may fail. */
import type { Child } from 'hono/jsx'
import type { AttentionKind } from '../../src/api/index.ts'
import { ApiError } from '../../src/platform/errors.ts'
import { groupedDecimalOf } from '../../src/solana/amounts.ts'
import { readMint } from '../../src/solana/token-accounts.ts'
import { Act } from './act.tsx'
import { Copyable, clean } from './values.tsx'
import type { View } from './view.ts'

/** What waits for a person about one resource, or of one kind, as /console has it. */
export async function waitingFor(view: View, about: { subject: string } | { kind: AttentionKind }): Promise<Child> {
  const { data } = await view.client.attention.list(about)
  return data.map(({ id, summary, command }) => (
    <div>
      <p role="alert">{clean(summary)}</p>
      <Copyable text={command} />
      <Act view={view} act="snooze" input={{ id }} />
    </div>
  ))
}

/** What an answer of the API shows, or why there is none: a read that fails must not hide the rest of the page. */
export async function shownOf<T>(read: Promise<{ data: T }>, show: (data: T) => Child): Promise<Child> {
  try {
    return show((await read).data)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return <p role="alert">{clean(error.message)}</p>
  }
}

/** Null for a record that does not exist. */
export async function nullIfNotFound<T>(read: Promise<{ data: T }>): Promise<T | null> {
  try {
    return (await read).data
  } catch (error) {
    if (error instanceof ApiError && error.code === 'not_found') return null
    throw error
  }
}

/** The decimals of a mint; null if the chain has none, or cannot be read. */
export async function decimalsOf({ client }: View, address: string): Promise<number | null> {
  try {
    const { owner, data } = (await client.accounts.get({ address })).data
    return readMint({ owner, data: Buffer.from(data, 'base64') })?.decimals ?? null
  } catch (error) {
    if (error instanceof ApiError) return null
    throw error
  }
}

/** Raw units in whole tokens; null stays null. */
export function amountText(raw: string | null, decimals: number | null): string | null {
  if (raw === null) return null
  return decimals === null ? `${raw} raw units` : groupedDecimalOf(BigInt(raw), decimals)
}
