/** How a wallet may open its account in a raise: freely, or by a proof from the stored allowlist or the request. */
import type { Api } from '../../api/index.ts'
import type { Input } from '../../api/route.ts'
import { merkleRootAddress, type ProvenCap, readOpening } from '../../chain/programs/presale/index.ts'
import type { Services } from '../../context.ts'
import { provenAllowance } from '../../merkle/allowlist.ts'
import { toHex } from '../../merkle/tree.ts'
import { fault } from '../locks/checks.ts'
import { hashBytesOf, keyBytesOf } from '../merkle-trees/open-tree.ts'
import { findAllowance } from './allowances.ts'
import type { Sale } from './buyer-state.ts'

export interface Admission {
  /** Most that the wallet may deposit; undefined for the limit of the round. */
  cap: bigint | undefined
  /** Opens the account; null without an allowlist, and if the account is there. */
  proven: Omit<ProvenCap, 'round'> | null
}

type Asked = Pick<Input<Api['raises']['deposit']>, 'cap' | 'proof'>

/** Throws bad_request for a wallet that is not on the allowlist, and for a proof of another list. */
export async function admissionOf(
  services: Pick<Services, 'store' | 'chain'>,
  { raise, round, escrow }: Sale,
  wallet: string,
  { cap, proof }: Asked,
): Promise<Admission> {
  const { address, allowlist } = raise
  if ((cap === undefined) !== (proof === undefined)) {
    throw fault(cap === undefined ? 'cap' : 'proof', 'cap and proof belong together: send both, or none')
  }
  if (escrow !== null) return { cap: escrow.cap, proven: null }
  if (allowlist === 'none') return { cap: undefined, proven: null }
  if (allowlist === 'operator') {
    throw fault('id', `An operator of the creator signs for each buyer of the raise ${address}, which svc does not do`)
  }
  const { roots } = await readOpening(services.chain, address)
  if (cap !== undefined && proof !== undefined) {
    const hashes = proof.map(hashBytesOf)
    const given = { wallet: keyBytesOf(wallet), round: round + 1, cap: BigInt(cap) }
    const version = roots.indexOf(toHex(provenAllowance(given, hashes)))
    if (version < 0) {
      throw fault(
        'proof',
        `proof: it leads to no root of the raise ${address} from ${wallet}, round ${round + 1} and cap ${cap}`,
      )
    }
    return {
      cap: given.cap,
      proven: { cap: given.cap, proof: hashes, config: merkleRootAddress(address, BigInt(version)) },
    }
  }
  const found = await findAllowance(services, address, { wallet, round: round + 1 })
  if (found === null) {
    const message = `buyer: ${wallet} is not in round ${round + 1} of the allowlist that is stored here for the raise ${address}; with another list send cap and proof`
    throw fault('buyer', message, { reason: 'not_listed' })
  }
  if (roots[found.version] === null || roots[found.version] === undefined) {
    const message = `id: the allowlist of the raise ${address} is not open yet: its creator writes its root on chain first (POST /v2/raises/{id}/openings, \`svc raises open\`)`
    throw fault('id', message, { reason: 'not_open' })
  }
  const { cap: listed, proof: siblings, config } = found
  return { cap: listed, proven: { cap: listed, proof: siblings, config } }
}
