/** Checks whether a mint can be locked, and says what its extensions mean for the recipient. */
import type { LockableToken } from '../../chain/programs/jupiter-lock/index.ts'
import { decimalsProof } from '../../chain/programs/tokens/index.ts'
import { badRequest, notFound } from '../../platform/errors.ts'
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../solana/program-ids.ts'
import { feeInEpoch } from '../../solana/transfer-fees.ts'

/** Extensions that the program accepts. With the confidential ones, only open amounts move. */
const ACCEPTED: readonly string[] = [
  'TransferFeeConfig',
  'TokenMetadata',
  'MetadataPointer',
  'ConfidentialTransferMint',
  'ConfidentialTransferFeeConfig',
  'PermanentDelegate',
  'TransferHook',
  'MintCloseAuthority',
  'DefaultAccountState',
  'GroupPointer',
  'GroupMemberPointer',
]

/** Throws not_found without a mint, bad_request for a mint whose tokens the program cannot lock. */
export function requireLockableMint(mint: string, token: LockableToken | null, chainLabel: string): LockableToken {
  if (token === null) throw notFound(`There is no token mint at ${mint} on ${chainLabel}`, { param: 'mint' })
  const { names, extensions } = token
  const refused = (why: string, found: readonly string[]) =>
    badRequest(`The token ${mint} cannot be locked: ${why}`, { param: 'mint', details: { extensions: found } })
  const unknown = names.filter((name) => !ACCEPTED.includes(name))
  if (unknown.length > 0) {
    throw refused(`Jupiter Lock refuses mints with the extension ${unknown.join(', ')}`, unknown)
  }
  const hook = extensions?.transferHook ?? null
  if (hook !== null) {
    throw refused(`every transfer calls the program ${hook}, whose accounts are not known here`, ['TransferHook'])
  }
  if (extensions?.isFrozenByDefault) {
    throw refused(
      'its new accounts are frozen until its freeze authority thaws them, and so would be that of the lock',
      ['DefaultAccountState'],
    )
  }
  return token
}

/** The chain checks the decimals with which an amount was converted. */
export const proofOfDecimals = (payer: string, { mint, tokenProgram, decimals }: LockableToken) =>
  decimalsProof(payer, { mint, program: tokenProgram === 'spl' ? TOKEN_PROGRAM : TOKEN_2022_PROGRAM, decimals })

/** Says what the mint lets others do with locked tokens; empty if nothing. */
export function mintWarnings({ extensions }: LockableToken, epoch: bigint): string[] {
  const warnings: string[] = []
  const delegate = extensions?.permanentDelegate ?? null
  if (delegate !== null) {
    warnings.push(`${delegate} is the permanent delegate of the mint: it can take the locked tokens at any time`)
  }
  const fee = feeInEpoch(extensions, epoch)
  if (fee !== null && fee.basisPoints > 0) {
    warnings.push(
      `The mint withholds a fee of ${fee.basisPoints / 100} % from every transfer, at most ${fee.maximumFee} raw units: the recipient receives less than it claims`,
    )
  }
  return warnings
}
