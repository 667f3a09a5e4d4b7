/** Resolves the gold token, the mint in the setting `gold.mint`. */
import type { LockableToken } from '../../chain/programs/jupiter-lock/index.ts'
import type { Services } from '../../context.ts'
import { internal } from '../../platform/errors.ts'

/** Throws internal_error when none is configured. */
export function goldMint({ config }: Pick<Services, 'config'>): string {
  const mint = config.values['gold.mint']
  if (mint !== undefined) return mint
  throw internal(
    'gold.mint is not set, so there is no gold token to lock: name its mint with `svc config set gold.mint <mint>` or SVC_GOLD_MINT, then restart the daemon',
    { unset: 'gold.mint' },
  )
}

/** Throws internal_error when the configured address is no mint, or one that cannot be locked. */
export function requireLockable(
  { chain }: Pick<Services, 'chain'>,
  mint: string,
  token: LockableToken | null,
): LockableToken {
  if (token === null) {
    throw internal(`gold.mint is ${mint}, and there is no token mint at that address on ${chain.cluster.label}`, {
      details: { mint },
    })
  }
  const { obstacles } = token
  if (obstacles.length === 0) return token
  throw internal(
    `gold.mint is ${mint}, whose token extension${obstacles.length === 1 ? '' : 's'} ${obstacles.join(', ')} cannot be locked: gold locks take SPL tokens, and Token-2022 tokens that are transferred whole and freely`,
    { details: { mint, extensions: obstacles } },
  )
}
