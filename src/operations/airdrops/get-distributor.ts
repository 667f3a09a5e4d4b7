/** Finds and reads the airdrop of a distributor by its address, whichever tool made it. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import {
  type Distributor,
  decodeClaimStatus,
  decodeDistributor,
  distributorAddress,
} from '../../chain/programs/merkle-distributor/index.ts'
import { accountsAt } from '../../chain/sending/runs.ts'
import type { Context } from '../../context.ts'
import { MAX_AIRDROP_COUNT } from '../../merkle/tree-id.ts'
import { type ApiError, badRequest, notFound } from '../../platform/errors.ts'
import type { ChainAccount } from '../../solana/accounts.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { treeIdOf } from '../merkle-trees/open-tree.ts'
import { getAirdrop } from './get-airdrop.ts'
import { isOpen } from './on-chain.ts'

type GetDistributorRoute = Api['airdrops']['distributor']

/** Throws not_found for an address without an account, and bad_request if the account has no airdrop id. */
export async function getDistributor(
  context: Context,
  { address }: Input<GetDistributorRoute>,
): Promise<Result<GetDistributorRoute>> {
  const { chain } = context
  const [account = null] = await accountsAt(chain, [address])
  if (!isOpen(account)) {
    throw notFound(`There is no distributor at ${address} on ${chain.cluster.label}`, {
      param: 'address',
      details: { reason: 'not_initialized' },
    })
  }
  const distributor = decodeDistributor(account)
  if (distributor === null) throw notADistributor(address, account)
  return getAirdrop(context, { id: await airdropIdAt(address, distributor) })
}

/**
 * Returns the id from mint and version. Throws bad_request if the id gives another address, because every claim is
 * built for the derived one.
 */
async function airdropIdAt(address: string, { mint, version }: Distributor): Promise<string> {
  if (version > BigInt(MAX_AIRDROP_COUNT)) {
    throw badRequest(
      `The distributor ${address} has the version ${version}, and an airdrop_count is at most ${MAX_AIRDROP_COUNT}: its claims cannot be built here; use the tool that made it`,
      { param: 'address', details: { reason: 'version_too_high', mint, version: String(version) } },
    )
  }
  const airdropCount = Number(version)
  const derived = await distributorAddress({ mint, airdropCount })
  if (derived === address) return treeIdOf(mint, airdropCount)
  throw badRequest(
    `The distributor ${address} names the mint ${mint} and the version ${version}, but the program derives ${derived} for these: it cannot be claimed here`,
    { param: 'address', details: { reason: 'other_address', mint, version: String(version), derived } },
  )
}

function notADistributor(address: string, account: ChainAccount): ApiError {
  const { id, name } = PROGRAMS.distributor
  const claim = decodeClaimStatus(account)
  const what =
    claim !== null
      ? `the record of a claim by ${claim.claimant}`
      : account.owner === id
        ? 'another account of that program'
        : `an account of the program ${account.owner}`
  return badRequest(`${address} is not a distributor of the ${name} (${id}): it is ${what}`, {
    param: 'address',
    details: { reason: 'no_distributor', owner: account.owner },
  })
}
