/** Chooses who signs a command: the local keypair, or a wallet named by its address because its key is elsewhere. */
import type { Session } from '../cli/session.ts'
import { Problem, usage } from '../ui/problem.ts'
import type { ActingVault } from './wallet.ts'

/** The flags that name the wallet by its address; a command has those that match the wallet's role. */
const ROLES = ['payer', 'creator', 'authority'] as const

export interface SigningWalletFlags {
  keypair?: string | undefined
  payer?: string | undefined
  creator?: string | undefined
  authority?: string | undefined
  dry_run?: boolean
  build_only?: boolean
  squads?: ActingVault | undefined
}

/**
 * Returns the address that signs: the vault if one acts. Throws a usage problem for an address without its keypair,
 * unless nothing is signed with it here.
 */
export async function signingWallet(session: Session, flags: SigningWalletFlags): Promise<string> {
  if (flags.squads !== undefined) return actingWallet(flags, flags.squads)
  const named = namedWallet(flags)
  if (named === undefined) return session.wallet.address(flags.keypair)
  if (flags.keypair === undefined && (flags.build_only || flags.dry_run)) return named.address
  const own = await session.wallet.address(flags.keypair).catch((error: unknown) => {
    if (flags.keypair === undefined && error instanceof Problem) throw keyIsElsewhere(named, error.message)
    throw error
  })
  if (own === named.address) return own
  if (flags.keypair !== undefined) {
    throw usage(`${named.flag} is ${named.address}, and --keypair is that of ${own}`, {
      param: named.flag,
      next: 'give one of the two',
    })
  }
  throw keyIsElsewhere(named, `the keypair is that of ${own}`)
}

/** The vault, whose roles no other wallet can have; --payer names its member. */
function actingWallet({ creator, authority }: SigningWalletFlags, { vault }: ActingVault): string {
  const named = namedWallet({ creator, authority })
  if (named === undefined || named.address === vault) return vault
  throw usage(`${named.flag} is ${named.address}, but the vault of --squads acts, ${vault}`, {
    param: named.flag,
    next: 'leave it out, or add --squads none',
  })
}

const keyIsElsewhere = ({ flag, address }: { flag: string; address: string }, why: string) =>
  usage(`the key of ${address} is not here: ${why}`, {
    param: flag,
    next: 'add --build-only, sign with `svc tx sign` where the key is, and send it with `svc tx submit`; or give its keypair with -k FILE',
  })

/** The wallet of the role flags; several flags must name the same one. */
function namedWallet(flags: SigningWalletFlags): { flag: string; address: string } | undefined {
  const given = ROLES.flatMap((role) => {
    const address = flags[role]
    return address === undefined ? [] : [{ flag: `--${role}`, address }]
  })
  const [first, ...others] = given
  const other = others.find(({ address }) => address !== first?.address)
  if (first !== undefined && other !== undefined) {
    throw usage(`give either ${first.flag} or ${other.flag}: one wallet signs and pays`, { param: other.flag })
  }
  if (first !== undefined && !/^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(first.address)) {
    throw usage(`${first.flag} must be an address, base58 of 32 bytes, not "${first.address}"`, { param: first.flag })
  }
  return first
}
