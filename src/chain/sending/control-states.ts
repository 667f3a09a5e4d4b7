/** Compares who controls accounts before and after a run: owner, authorities, delegate, right to close, program. */
import type { Simulation } from '../../api/index.ts'
import { holdsAddressAt, nonceAuthority, offsetsOf } from '../../policy/movement/touched-accounts.ts'
import type { ChainAccount } from '../../solana/accounts.ts'
import { addressBytes, addressOf } from '../../solana/addresses.ts'
import { METAPLEX_CORE } from '../../solana/programs/metaplex-core.ts'
import { TOKEN_METADATA } from '../../solana/programs/token-metadata.ts'
import { readMint, readTokenAccount } from '../../solana/token-accounts.ts'
import { metadataAuthority, readMintExtensions } from '../../solana/token-extensions.ts'
import type { MaybeAccount } from '../reads/node-reads.ts'

export type ControlChange = Simulation['control_changes'][number]

/** What controls an account, by name. Null is nobody. */
type Control = Record<string, string | null>

/**
 * Returns a row for each owner or authority that differs, of accounts that exist before and after, in the order of
 * `addresses`. Accounts of other programs have one if an address of `holders` disappears from a place in their data.
 */
export function controlChanges(
  addresses: readonly string[],
  before: readonly MaybeAccount[],
  after: readonly MaybeAccount[],
  holders: readonly string[],
): ControlChange[] {
  return addresses.flatMap((address, i) => {
    const [from, to] = [before[i] ?? null, after[i] ?? null]
    // Nodes show an account that was closed within the run as one without lamports.
    if (from === null || to === null || from.lamports === 0n || to.lamports === 0n) return []
    const [old, now] = [controlOf(from), controlOf(to)]
    const all = new Set([...Object.keys(old), ...Object.keys(now)])
    const rows = [...all].flatMap((what) => {
      const [was, is] = [old[what] ?? null, now[what] ?? null]
      return was === is ? [] : [{ address, what, before: was, after: is }]
    })
    return rows.length > 0 ? rows : lostPlaces(address, from, to, holders)
  })
}

function controlOf(account: ChainAccount): Control {
  return { program: account.owner, ...(ofToken(account) ?? ofMint(account) ?? ofMetaplex(account) ?? ofNonce(account)) }
}

function ofToken(account: ChainAccount): Control | null {
  const token = readTokenAccount(account)
  if (token === null) return null
  const { owner, delegate, delegatedAmount, closeAuthority, state } = token
  return {
    owner,
    delegate,
    // Without a delegate the program keeps no amount.
    'amount of the delegate in raw units': delegate === null ? null : String(delegatedAmount),
    'close authority': closeAuthority,
    state,
  }
}

function ofMint(account: ChainAccount): Control | null {
  const mint = readMint(account)
  if (mint === null) return null
  const { authorities, permanentDelegate, transferHook } = readMintExtensions(account.data)
  return {
    'mint authority': mint.mintAuthority,
    'freeze authority': mint.freezeAuthority,
    'metadata authority': metadataAuthority(account.data),
    'permanent delegate': permanentDelegate,
    'transfer hook program': transferHook,
    ...Object.fromEntries(
      Object.entries(authorities).map(([type, to]) => [`${type.replaceAll('_', ' ')} authority`, to]),
    ),
  }
}

function ofMetaplex(account: ChainAccount): Control | null {
  const holder = TOKEN_METADATA.decode('metadata', account) ?? METAPLEX_CORE.decode('collection', account)
  if (holder !== null) return { 'update authority': holder.update_authority }
  const asset = METAPLEX_CORE.decode('asset', account)
  if (asset === null) return null
  // The update authority is nobody, an address or a collection.
  const [authority = null] = (asset.update_authority.value ?? []) as string[]
  return { owner: asset.owner, 'update authority': authority }
}

function ofNonce(account: ChainAccount): Control {
  const authority = nonceAuthority(account)
  return authority === null ? {} : { 'nonce authority': authority }
}

const addressAt = (data: Uint8Array, offset: number): string | null =>
  data.length < offset + 32 ? null : addressOf(data.subarray(offset, offset + 32))

/** Where an account of a program that is not read here no longer names a holder. */
function lostPlaces(
  address: string,
  from: ChainAccount,
  to: ChainAccount,
  holders: readonly string[],
): ControlChange[] {
  if (Object.keys(controlOf(from)).length > 1) return []
  return holders.flatMap((holder) =>
    offsetsOf(from.data, addressBytes(holder))
      .filter((offset) => !holdsAddressAt(to, offset, addressBytes(holder)))
      .map((offset) => ({
        address,
        what: `the address at byte ${offset}`,
        before: holder,
        after: addressAt(to.data, offset),
      })),
  )
}
