/** Returns the `raw` field of a token that no metadata provider knows: its decoded mint and metadata. */
import type { OnChainToken } from '../../chain/programs/tokens/index.ts'

import type { MintExtensions, TransferFee } from '../../solana/token-extensions.ts'

export function rawTokenOf(token: OnChainToken) {
  const { metadata } = token
  return {
    token_program: token.tokenProgram,
    decimals: token.decimals,
    supply: String(token.supply),
    mint_authority: token.mintAuthority,
    freeze_authority: token.freezeAuthority,
    metadata: metadata && {
      name: metadata.name,
      symbol: metadata.symbol,
      uri: metadata.uri,
      update_authority: metadata.updateAuthority,
      is_mutable: metadata.isMutable,
      ...(metadata.fields === undefined ? {} : { fields: metadata.fields }),
      ...(metadata.hasMoreFields ? { more_fields: true } : {}),
    },
    ...(token.extensions === null ? {} : { extensions: rawExtensions(token.extensions) }),
  }
}

/** Only extensions that the mint has, and authorities that somebody holds. Most mints have none. */
function rawExtensions(extensions: MintExtensions) {
  const { transferFee, transferHook, permanentDelegate, isPaused, interestBasisPoints, uiMultiplier } = extensions
  const authorities = Object.entries(extensions.authorities).filter(([, holder]) => holder !== null)
  return {
    ...(transferFee === null
      ? {}
      : {
          transfer_fee: {
            ...rawFee(transferFee.newer),
            earlier: rawFee(transferFee.older),
            withheld_in_mint: String(extensions.withheldInMint),
          },
        }),
    ...(transferHook === null ? {} : { transfer_hook: transferHook }),
    ...(permanentDelegate === null ? {} : { permanent_delegate: permanentDelegate }),
    ...(extensions.isFrozenByDefault ? { frozen_by_default: true } : {}),
    ...(extensions.isTransferable ? {} : { non_transferable: true }),
    ...(isPaused === null ? {} : { paused: isPaused }),
    ...(interestBasisPoints === null ? {} : { interest_basis_points: interestBasisPoints }),
    ...(uiMultiplier === null
      ? {}
      : {
          ui_multiplier: {
            before: String(uiMultiplier.before),
            effective_at: String(uiMultiplier.effectiveAt),
            after: String(uiMultiplier.after),
          },
        }),
    ...(authorities.length === 0 ? {} : { authorities: Object.fromEntries(authorities) }),
  }
}

const rawFee = ({ epoch, basisPoints, maximumFee }: TransferFee) => ({
  from_epoch: String(epoch),
  basis_points: basisPoints,
  maximum_fee: String(maximumFee),
})
