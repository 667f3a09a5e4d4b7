/** The key of a new mint: a fresh one, or that of an address which the caller has chosen and signs for. */
import { readAccountKinds } from '../../chain/reads/account-kinds.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { addressBytes } from '../../solana/addresses.ts'
import { keyFault } from '../../solana/bare-addresses.ts'
import type { FreshKey } from '../../solana/signatures.ts'
import { newKey } from '../building.ts'

/**
 * Returns a fresh key, or the chosen address with an empty secret key. Throws bad_request if an account is there, and
 * bad_request for the address of another signer or of no key, and if a vault acts, which no other key can sign with.
 */
export async function mintKeyFor(
  context: Context,
  { address, param, signers }: { address: string | undefined; param: string; signers: readonly string[] },
): Promise<Pick<FreshKey, 'address' | 'secretKey'>> {
  if (address === undefined) return newKey(context)
  if (context.vaultActing !== undefined) {
    throw badRequest(
      `${param}: a vault makes its mints itself, because no other key signs what it executes: leave it out`,
      {
        param,
      },
    )
  }
  if (signers.includes(address)) {
    throw badRequest(`${param} must not be a wallet that pays or signs: give the address of a new key`, { param })
  }
  if (keyFault(addressBytes(address)) !== null) {
    throw badRequest(`${param} ${address} has no key that could sign: give the address of a new key`, { param })
  }
  const { chain } = context
  await readAccountKinds(chain, [address], { commitment: 'confirmed' }, (account) => {
    if (account !== null)
      throw badRequest(`${param}: an account exists at ${address} already: give the address of a new key`, { param })
  })
  return { address, secretKey: new Uint8Array() }
}
