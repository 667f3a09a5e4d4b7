/** Parses sysvars and the accounts of the Stake, Vote and Config programs into jsonParsed form. */
import { base58 } from '@scure/base'
import type { ChainAccount } from '../../solana/accounts.ts'
import { ByteReader, ShortData } from '../../solana/byte-reader.ts'
import { CLOCK_SYSVAR, SYSTEM_PROGRAM } from '../../solana/program-ids.ts'
import { SYSVAR } from '../../solana/programs/sysvar.ts'

/** The state of an account in jsonParsed form. */
export interface ParsedState {
  type: string
  info?: object
}
type Read = (reader: ByteReader) => unknown

/** A list in bincode: a u64 count, then its items. A count that the data cannot hold is refused before it is read. */
function listOf<T>(reader: ByteReader, read: (reader: ByteReader) => T): T[] {
  const count = reader.u64()
  if (count > reader.left) throw new ShortData()
  return Array.from({ length: Number(count) }, () => read(reader))
}
const optional = <T>(reader: ByteReader, read: (reader: ByteReader) => T): T | null =>
  reader.bool() ? read(reader) : null
const text = (value: bigint): string => value.toString()
const u128 = (reader: ByteReader): bigint => reader.u64() + (reader.u64() << 64n)
const signatureFee = (reader: ByteReader) => ({ lamportsPerSignature: text(reader.u64()) })

/** A validator prints the history as one digit for each slot, the lowest bit of each word first. */
function slotHistory(reader: ByteReader) {
  const words = optional(reader, (bits) => listOf(bits, (word) => word.u64())) ?? []
  // The number of bits is stored after the words.
  reader.u64()
  const bits = words.map((word) => [...word.toString(2).padStart(64, '0')].reverse().join('')).join('')
  return { nextSlot: reader.u64(), bits }
}

/** The other sysvars by address, with the name that a validator prints. */
const SYSVARS: Readonly<Record<string, readonly [type: string, read: Read]>> = {
  SysvarEpochSchedu1e111111111111111111111111: [
    'epochSchedule',
    (r) => ({
      slotsPerEpoch: r.u64(),
      leaderScheduleSlotOffset: r.u64(),
      warmup: r.bool(),
      firstNormalEpoch: r.u64(),
      firstNormalSlot: r.u64(),
    }),
  ],
  SysvarEpochRewards1111111111111111111111111: [
    'epochRewards',
    (r) => ({
      distributionStartingBlockHeight: r.u64(),
      numPartitions: r.u64(),
      parentBlockhash: r.key(),
      totalPoints: text(u128(r)),
      totalRewards: text(r.u64()),
      distributedRewards: text(r.u64()),
      active: r.bool(),
    }),
  ],
  SysvarFees111111111111111111111111111111111: ['fees', (r) => ({ feeCalculator: signatureFee(r) })],
  SysvarLastRestartS1ot1111111111111111111111: ['lastRestartSlot', (r) => ({ lastRestartSlot: r.u64() })],
  SysvarRecentB1ockHashes11111111111111111111: [
    'recentBlockhashes',
    (r) => listOf(r, () => ({ blockhash: r.key(), feeCalculator: signatureFee(r) })),
  ],
  SysvarRent111111111111111111111111111111111: [
    'rent',
    (r) => ({ lamportsPerByteYear: text(r.u64()), exemptionThreshold: r.f64(), burnPercent: r.u8() }),
  ],
  SysvarRewards111111111111111111111111111111: ['rewards', (r) => ({ validatorPointValue: r.f64() })],
  SysvarS1otHashes111111111111111111111111111: [
    'slotHashes',
    (r) => listOf(r, () => ({ slot: r.u64(), hash: r.key() })),
  ],
  SysvarS1otHistory11111111111111111111111111: ['slotHistory', slotHistory],
  SysvarStakeHistory1111111111111111111111111: [
    'stakeHistory',
    (r) =>
      listOf(r, () => ({
        epoch: r.u64(),
        stakeHistory: { effective: r.u64(), activating: r.u64(), deactivating: r.u64() },
      })),
  ],
}

function parseSysvar(address: string, account: ChainAccount): ParsedState | null {
  if (address === CLOCK_SYSVAR) {
    const info = SYSVAR.decode('clock', account)
    return info && { type: 'clock', info }
  }
  const [type, read] = (Object.hasOwn(SYSVARS, address) && SYSVARS[address]) || []
  if (type === undefined || read === undefined) return null
  return { type, info: read(new ByteReader(account.data)) as object }
}

const STAKE_STATES = ['uninitialized', 'initialized', 'delegated', 'rewardsPool']

function parseStake(data: Uint8Array): ParsedState {
  const reader = new ByteReader(data)
  const type = STAKE_STATES[reader.u32()]
  if (type === undefined) throw new ShortData()
  if (type === 'uninitialized' || type === 'rewardsPool') return { type }
  const meta = {
    rentExemptReserve: text(reader.u64()),
    authorized: { staker: reader.key(), withdrawer: reader.key() },
    lockup: { unixTimestamp: reader.i64(), epoch: reader.u64(), custodian: reader.key() },
  }
  if (type === 'initialized') return { type, info: { meta, stake: null } }
  const delegation = {
    voter: reader.key(),
    stake: text(reader.u64()),
    activationEpoch: text(reader.u64()),
    deactivationEpoch: text(reader.u64()),
    warmupCooldownRate: reader.f64(),
  }
  return { type, info: { meta, stake: { delegation, creditsObserved: reader.u64() } } }
}

/** Prior voters are 32 places, of which the unused ones are zero, the newest place, and whether all are unused. */
function priorVoters(reader: ByteReader) {
  const places = Array.from({ length: 32 }, () => ({
    authorizedPubkey: reader.key(),
    epochOfLastAuthorizedSwitch: reader.u64(),
    targetEpoch: reader.u64(),
  }))
  reader.take(9)
  return places.filter(({ authorizedPubkey }) => authorizedPubkey !== SYSTEM_PROGRAM)
}

/** Reads vote accounts of the versions 1.14.11 (tag 1) and 3 (tag 2); others are answered as bytes. */
function parseVote(data: Uint8Array): ParsedState | null {
  const reader = new ByteReader(data)
  const version = reader.u32()
  if (version !== 1 && version !== 2) return null
  const nodePubkey = reader.key()
  const authorizedWithdrawer = reader.key()
  const commission = reader.u8()
  const votes = listOf(reader, () => {
    // Version 3 has a byte of latency before each vote.
    if (version === 2) reader.u8()
    return { slot: reader.u64(), confirmationCount: reader.u32() }
  })
  const rootSlot = optional(reader, () => reader.u64())
  const authorizedVoters = listOf(reader, () => ({ epoch: reader.u64(), authorizedVoter: reader.key() }))
  const prior = priorVoters(reader)
  const epochCredits = listOf(reader, () => ({
    epoch: reader.u64(),
    credits: text(reader.u64()),
    previousCredits: text(reader.u64()),
  }))
  const lastTimestamp = { slot: reader.u64(), timestamp: reader.i64() }
  const voted = { votes, rootSlot, authorizedVoters, priorVoters: prior, epochCredits, lastTimestamp }
  return { type: 'vote', info: { nodePubkey, authorizedWithdrawer, commission, ...voted } }
}

const STAKE_CONFIG = 'StakeConfig11111111111111111111111111111111'
const VALIDATOR_INFO = 'Va1idator1nfo111111111111111111111111111111'

/** A length of the short form of Solana: seven bits in each byte, the lowest first. */
function shortLength(reader: ByteReader): number {
  let length = 0
  for (let shift = 0; shift < 21; shift += 7) {
    const byte = reader.u8()
    length |= (byte & 0x7f) << shift
    if (byte < 0x80) return length
  }
  throw new ShortData()
}

function parseConfig(address: string, data: Uint8Array): ParsedState | null {
  const reader = new ByteReader(data)
  const keys = Array.from({ length: shortLength(reader) }, () => ({
    pubkey: base58.encode(reader.take(32)),
    signer: reader.bool(),
  }))
  if (address === STAKE_CONFIG)
    return { type: 'stakeConfig', info: { warmupCooldownRate: reader.f64(), slashPenalty: reader.u8() } }
  if (keys[0]?.pubkey !== VALIDATOR_INFO) return null
  try {
    return { type: 'validatorInfo', info: { keys, configData: JSON.parse(reader.text(reader.u64())) } }
  } catch {
    return null
  }
}

/** The parsers by owner; `address` tells sysvars apart. */
export const NATIVE_ACCOUNTS: Readonly<
  Record<string, readonly [program: string, parse: (address: string, account: ChainAccount) => ParsedState | null]>
> = {
  Sysvar1111111111111111111111111111111111111: ['sysvar', parseSysvar],
  Stake11111111111111111111111111111111111111: ['stake', (_, { data }) => parseStake(data)],
  Vote111111111111111111111111111111111111111: ['vote', (_, { data }) => parseVote(data)],
  Config1111111111111111111111111111111111111: ['config', (address, { data }) => parseConfig(address, data)],
}
