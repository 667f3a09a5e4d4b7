/** Parses Token-2022 extensions into jsonParsed form (spl-token-2022's extension module). */
import { ByteReader, ShortData } from '../../solana/byte-reader.ts'
import { TOKEN_ACCOUNT_STATES } from '../../solana/programs/token.ts'

type Parse = (reader: ByteReader) => object | undefined

const none: Parse = () => undefined

function transferFee(reader: ByteReader) {
  return { epoch: reader.u64(), maximumFee: reader.u64(), transferFeeBasisPoints: reader.u16() }
}

function tokenMetadata(reader: ByteReader) {
  const updateAuthority = reader.nonZeroKey()
  const mint = reader.key()
  const text = () => reader.text(reader.u32())
  const name = text()
  const symbol = text()
  const uri = text()
  const additionalMetadata = Array.from({ length: Math.min(reader.u32(), reader.left) }, () => [text(), text()])
  return { updateAuthority, mint, name, symbol, uri, additionalMetadata }
}

const EXTENSIONS: Readonly<Record<number, readonly [name: string, parse: Parse]>> = {
  1: [
    'transferFeeConfig',
    (r) => ({
      transferFeeConfigAuthority: r.nonZeroKey(),
      withdrawWithheldAuthority: r.nonZeroKey(),
      withheldAmount: r.u64(),
      olderTransferFee: transferFee(r),
      newerTransferFee: transferFee(r),
    }),
  ],
  2: ['transferFeeAmount', (r) => ({ withheldAmount: r.u64() })],
  3: ['mintCloseAuthority', (r) => ({ closeAuthority: r.nonZeroKey() })],
  6: ['defaultAccountState', (r) => ({ accountState: TOKEN_ACCOUNT_STATES[r.u8()] })],
  7: ['immutableOwner', none],
  8: ['memoTransfer', (r) => ({ requireIncomingTransferMemos: r.bool() })],
  9: ['nonTransferable', none],
  10: [
    'interestBearingConfig',
    (r) => ({
      rateAuthority: r.nonZeroKey(),
      initializationTimestamp: r.i64(),
      preUpdateAverageRate: r.i16(),
      lastUpdateTimestamp: r.i64(),
      currentRate: r.i16(),
    }),
  ],
  11: ['cpiGuard', (r) => ({ lockCpi: r.bool() })],
  12: ['permanentDelegate', (r) => ({ delegate: r.nonZeroKey() })],
  13: ['nonTransferableAccount', none],
  14: ['transferHook', (r) => ({ authority: r.nonZeroKey(), programId: r.nonZeroKey() })],
  15: ['transferHookAccount', (r) => ({ transferring: r.bool() })],
  18: ['metadataPointer', (r) => ({ authority: r.nonZeroKey(), metadataAddress: r.nonZeroKey() })],
  19: ['tokenMetadata', tokenMetadata],
  20: ['groupPointer', (r) => ({ authority: r.nonZeroKey(), groupAddress: r.nonZeroKey() })],
  21: ['tokenGroup', (r) => ({ updateAuthority: r.nonZeroKey(), mint: r.key(), size: r.u64(), maxSize: r.u64() })],
  22: ['groupMemberPointer', (r) => ({ authority: r.nonZeroKey(), memberAddress: r.nonZeroKey() })],
  23: ['tokenGroupMember', (r) => ({ mint: r.key(), group: r.key(), memberNumber: r.u64() })],
  25: [
    'scaledUiAmountConfig',
    (r) => ({
      authority: r.nonZeroKey(),
      multiplier: String(r.f64()),
      newMultiplierEffectiveTimestamp: r.i64(),
      newMultiplier: String(r.f64()),
    }),
  ],
  26: ['pausableConfig', (r) => ({ authority: r.nonZeroKey(), paused: r.bool() })],
  27: ['pausableAccount', none],
}

function parseOne(type: number, data: Uint8Array): object {
  const extension = EXTENSIONS[type]
  if (!extension) return { extension: 'unparseableExtension' }
  try {
    const state = extension[1](new ByteReader(data))
    return { extension: extension[0], ...(state && { state }) }
  } catch (error) {
    if (error instanceof ShortData || error instanceof TypeError) return { extension: 'unparseableExtension' }
    throw error
  }
}

/** Returns the name of an extension as in the info of `getAccountDataSize`. */
export const extensionName = (type: number): string => EXTENSIONS[type]?.[0] ?? 'unparseableExtension'

/** Parses the type-length-value entries from `start` to the end or the first empty entry. */
export function parseExtensions(data: Uint8Array, start: number): object[] {
  const reader = new ByteReader(data, start)
  const extensions: object[] = []
  while (reader.left >= 4) {
    const type = reader.u16()
    const length = reader.u16()
    if (type === 0 || length > reader.left) break
    extensions.push(parseOne(type, reader.take(length)))
  }
  return extensions
}
