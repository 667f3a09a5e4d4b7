/** Reads what opens a raise to its allowlist: its roots by version, and where clients get proofs. */
import { hexOf } from '../../../solana/bytes.ts'
import { PRESALE } from '../../../solana/programs/presale.ts'
import type { NodeCalls } from '../../nodes/node-call.ts'
import { accountsAt } from '../../sending/runs.ts'
import { merkleRootAddress, serverMetadataAddress } from './reading.ts'

/** Versions that svc reads and writes; the program permits any number. */
const VERSIONS = 16

export interface RaiseOpening {
  /** Roots in hex by their version; null for a version without one. All of them are valid. */
  roots: readonly (string | null)[]
  url: string | null
}

/** Throws internal_error when the node fails. */
export async function readOpening(node: NodeCalls, raise: string): Promise<RaiseOpening> {
  const places = Array.from({ length: VERSIONS }, (_, version) => merkleRootAddress(raise, BigInt(version)))
  const [metadata, ...accounts] = await accountsAt(node, [serverMetadataAddress(raise), ...places])
  return {
    url: PRESALE.decode('permissioned_server_metadata', metadata)?.server_url ?? null,
    roots: places.map((_, version) => {
      const root = PRESALE.decode('merkle_root_config', accounts[version])?.root
      return root === undefined ? null : hexOf(root)
    }),
  }
}

/** The version of a root, or the first that is free for it; -1 if none is. */
export function versionFor({ roots }: RaiseOpening, root: string): number {
  const own = roots.indexOf(root)
  return own >= 0 ? own : roots.indexOf(null)
}
