/** Opens the platform wallet for an operation that requires it. */

import { type Signer, SignerUnavailable } from '../../chain/signer/index.ts'
import type { Services } from '../../context.ts'
import { type ApiError, internal } from '../../platform/errors.ts'
import type { Log } from '../../platform/log.ts'
import type { ConfigError } from '../../settings/config.ts'
import { GENESIS_HASHES } from '../../solana/genesis-hashes.ts'

/** Returns null when none is configured. Throws internal_error when its provider cannot be set up. */
export function openSigner({ signer, log }: Pick<Services, 'signer' | 'log'>): Promise<Signer | null> {
  return signer().catch((error) => {
    throw asApiError(error, log)
  })
}

/**
 * Returns null when none is configured or its provider cannot be set up, which is logged. For operations that work
 * without a signer.
 */
export const trySigner = ({ signer, log }: Pick<Services, 'signer' | 'log'>): Promise<Signer | null> =>
  signer().catch((error: unknown) => {
    const fault = error instanceof Error ? error.message : String(error)
    if (loggedFaults.get(signer) !== fault) log.warn({ fault }, 'the signer cannot be used')
    loggedFaults.set(signer, fault)
    return null
  })

/** The fault that was logged last for each signer: workers meet it again every few seconds. */
const loggedFaults = new WeakMap<Services['signer'], string>()

/** Throws internal_error when none is configured or its provider cannot be set up. */
export async function requireSigner(services: Pick<Services, 'signer' | 'log'>): Promise<Signer> {
  const opened = await openSigner(services)
  if (opened === null) {
    throw internal(
      'No signer is configured: set `signer` to keypair, vault, turnkey, privy or aws-kms (docs/signer.md)',
      { unset: 'signer' },
    )
  }
  return opened
}

/** Returns the chain's genesis hash. Throws internal_error for another chain than `signer.cluster`. */
export async function requireCluster({
  chain,
  config,
  log,
}: Pick<Services, 'chain' | 'config' | 'log'>): Promise<string> {
  const expected = config.values['signer.cluster']
  const genesis = await chain.genesisHash()
  if (expected === 'any') return genesis
  const fits = expected === 'embedded' ? chain.cluster.kind === 'embedded' : genesis === GENESIS_HASHES[expected]
  if (!fits) {
    log.error({ wanted: expected, genesis }, 'the signer is restricted to another cluster')
    throw internal(
      `The signer is restricted to ${expected} (signer.cluster), but this is another chain (genesis ${genesis}): nothing was signed`,
    )
  }
  return genesis
}

/**
 * Converts a provider's failure to internal_error. Its messages contain no secret, and in production only the log has
 * them.
 */
export function asApiError(error: unknown, log: Log): ApiError | unknown {
  if (error instanceof SignerUnavailable || (error instanceof Error && error.name === 'ConfigError')) {
    log.error({ fault: error.message }, 'the signer cannot be used')
    return internal(error.message, { unset: (error as Partial<ConfigError>).unset })
  }
  return error
}
