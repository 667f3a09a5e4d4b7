/** Resolves the gold token, the mint in the setting `gold.mint`. */
import type { LockableToken } from '../../chain/programs/jupiter-lock/index.ts'
import type { Services } from '../../context.ts'
import { internal } from '../../platform/errors.ts'

/** Throws internal_error when none is configured. */
export function goldMint({ config }: Pick<Services, 'config'>): string {
  const mint = config.values['gold.mint']
  if (mint !== undefined) return mint
  throw internal(
    'gold.mint is not set, so there is no gold token to lock: set its mint with `svc config set gold.mint <mint>` or SVC_GOLD_MINT, then restart the daemon',
    { unset: 'gold.mint' },
  )
}

/**
 * Extensions that change neither amounts nor transfers. A transfer fee would reduce the locked amount, a hook requires
 * extra accounts, and frozen accounts cannot be paid. The program itself refuses all others.
 */
const HARMLESS = [
  'MintCloseAuthority',
  'PermanentDelegate',
  'MetadataPointer',
  'TokenMetadata',
  'GroupPointer',
  'GroupMemberPointer',
]

/** Throws internal_error if the configured address is not a mint, or a mint that cannot be locked. */
export function requireLockable(
  { chain }: Pick<Services, 'chain'>,
  mint: string,
  token: LockableToken | null,
): LockableToken {
  if (token === null) {
    throw internal(`gold.mint is ${mint}, but there is no token mint at that address on ${chain.cluster.label}`, {
      details: { mint },
    })
  }
  const obstacles = token.names.filter((name) => !HARMLESS.includes(name))
  if (obstacles.length === 0) return token
  throw internal(
    `gold.mint is ${mint}, whose token extension${obstacles.length === 1 ? '' : 's'} ${obstacles.join(', ')} cannot be locked: gold locks accept SPL tokens, and Token-2022 tokens without transfer fees or restrictions`,
    { details: { mint, extensions: obstacles } },
  )
}
