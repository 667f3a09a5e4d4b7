/** Opens the vault that acts in a request with `approver`: its multisig, the member who proposes, and the next number. */
import type { Approver } from '../../../api/envelope.ts'
import { requireProgram } from '../../../chain/programs/required-program.ts'
import { readMultisig } from '../../../chain/programs/squads/index.ts'
import type { ActingVault, Context } from '../../../context.ts'
import { badRequest } from '../../../platform/errors.ts'
import { PROGRAMS } from '../../../solana/programs.ts'
import {
  ephemeralSignerAddress,
  type Multisig,
  squadsTransactionAddress,
  vaultAddress,
} from '../../../solana/squads/index.ts'
import { requireSigner } from '../../signing/require-signer.ts'
import type { SigningContext } from '../../signing/types.ts'
import { type KnownVault, knownVaultOr } from './known-vault.ts'

export interface OpenedVault {
  acting: ActingVault
  multisig: Multisig
  member: string
}

/**
 * `isSigned` says whether the platform wallet proposes. Throws not_found without the multisig, and bad_request for a member who may not
 * propose.
 */
export async function openActingVault(
  context: ProposalContext,
  approver: Approver,
  { isSigned }: { isSigned: boolean },
): Promise<OpenedVault> {
  const { multisig: address, vault_index: vaultIndex, member: requested } = approver
  await requireProgram(context.chain, PROGRAMS.squads)
  const multisig = await requireMultisig(context, approver)
  const member = await resolveProposer(context, multisig, requested, isSigned)
  const index = multisig.transactionIndex + 1n
  const transaction = squadsTransactionAddress(address, index)
  const signers: string[] = []
  const acting: ActingVault = {
    multisig: address,
    vault: vaultAddress(address, vaultIndex),
    vaultIndex,
    index,
    signers,
    newSigner() {
      const signer = ephemeralSignerAddress(transaction, signers.length)
      signers.push(signer)
      return signer
    },
  }
  return { acting, multisig, member }
}

/** Reads the multisig that a request names. Throws not_found without it, and bad_request for the vault of a known one. */
export function requireMultisig(
  context: Pick<Context, 'chain' | 'store' | 'config'>,
  { multisig: address, vault_index: vaultIndex }: Pick<Approver, 'multisig' | 'vault_index'>,
  field = 'approver',
): Promise<Multisig> {
  const param = `${field}.multisig`
  return readMultisig(context.chain, address, param).catch(async (fault: unknown) => {
    throw isVault(address, field, await knownVaultOr(context, { address, param, vaultIndex }, fault))
  })
}

const isVault = (address: string, field: string, { multisig, vaultIndex }: KnownVault) =>
  badRequest(
    `${address} is the vault ${vaultIndex} of the multisig ${multisig}: send ${multisig} as ${field}.multisig, and ${vaultIndex} as ${field}.vault_index`,
    { param: `${field}.multisig`, details: { multisig, vault_index: vaultIndex } },
  )

async function resolveProposer(
  context: ProposalContext,
  { address, members }: Multisig,
  requested: string | undefined,
  isSigned: boolean,
): Promise<string> {
  const param = 'approver.member'
  const may = members.filter(({ initiate }) => initiate).map((each) => each.address)
  if (isSigned) {
    const wallet = (await requireSigner(context)).address
    if (requested !== undefined && requested !== wallet) {
      throw badRequest(`${param} must be the platform wallet ${wallet} with mode "signed", or be left out`, { param })
    }
    if (may.includes(wallet)) return wallet
    throw badRequest(
      `The platform wallet ${wallet} may not propose in the multisig ${address}: let its members give it the right to initiate, or use mode "unsigned"`,
      { param, details: { members: may } },
    )
  }
  if (requested === undefined) {
    throw badRequest(`${param} is required: send the member who proposes, one of ${may.join(', ')}`, {
      param,
      details: { members: may },
    })
  }
  if (may.includes(requested)) return requested
  const isMember = members.some((each) => each.address === requested)
  throw badRequest(
    `${requested} ${isMember ? 'may not propose in' : 'is not a member of'} the multisig ${address}: send one of ${may.join(', ')}`,
    { param, details: { members: may } },
  )
}

/** The part of a context that a proposal uses. A worker that proposes makes its own. */
export type ProposalContext = SigningContext &
  Pick<Context, 'txVersion'> &
  Partial<Pick<Context, 'force' | 'vaultActing' | 'renews'>>
