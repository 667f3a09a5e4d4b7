/** Builds the parts of the embedded chain from its folder: genesis, program cache, and the changes in the journal. */
import { createHash, randomBytes } from 'node:crypto'
import { base58 } from '@scure/base'
import { loadSqlite, loadSvm } from '../platform/native-modules.ts'
import { addressOf } from '../solana/addresses.ts'
import { type ClusterSettings, DEFAULT_SETTINGS } from '../solana/cluster-settings.ts'
import { COMMITMENT_DEPTH } from '../solana/constants.ts'
import { SYSTEM_PROGRAM } from '../solana/program-ids.ts'
import { AccountIndex, type AccountReader } from './account-index.ts'
import { Blockhashes } from './blockhashes.ts'
import {
  alpenglowSlotIn,
  applySettings,
  ConsensusKeptError,
  consensusIn,
  readCachedSettings,
  saveFirstSettings,
} from './chain-settings.ts'
import { type ClockState, GENESIS_SLOT, SlotClock } from './clock.ts'
import { FAUCET_LAMPORTS, openFaucet } from './faucet.ts'
import { type ChainJournal, openJournal } from './journal.ts'
import type { ChainParts } from './ledger.ts'
import { loadPrograms } from './programs-dir.ts'
import { Runtime } from './runtime.ts'
import type { LocalChainOptions } from './types.ts'

/** Loads the SDKs, locks the journal and fills the runtime. Throws ChainLockedError and ConsensusKeptError. */
export async function openParts(options: LocalChainOptions): Promise<ChainParts> {
  const { dataDir, programsDir, sigVerify = true } = options
  const native = await loadSvm()
  const journal = openJournal(loadSqlite(), dataDir)
  try {
    const { seed, clock, settings, alpenglowSlot, faults } = openSettings(journal, options)
    const blockhashes = new Blockhashes(seed)
    const runtime = new Runtime(native, clock, blockhashes, settings.rent, sigVerify)
    const builtIn = runtime.builtInAddresses()
    const defaultPrograms = runtime.unusedAddresses()
    const faucet = openFaucet(seed)
    const { accounts, programs: added, report } = loadPrograms(runtime, programsDir)
    const base = { lamports: FAUCET_LAMPORTS, owner: SYSTEM_PROGRAM, data: new Uint8Array(), executable: false }
    runtime.set(faucet.address, base)

    const genesis = new Set([...builtIn, ...defaultPrograms, faucet.address, ...accounts.keys(), ...added])
    const index = new AccountIndex(readerOf(runtime, journal, [...builtIn, faucet.address, ...accounts.keys()]))
    runtime.onLoad((address, account) => index.update(address, account))
    const notRestored = runtime.restore(journal.accounts()).map((fault) => `Not restored: ${fault}`)
    return {
      journal,
      clock,
      genesisHash: base58.encode(createHash('sha256').update(seed).update('genesis').digest()),
      blockhashes,
      runtime,
      index,
      faucet,
      genesis,
      report() {
        const { programs, warnings } = report()
        return { programs, warnings: [...faults, ...warnings, ...notRestored] }
      },
      dataDir: dataDir ?? 'memory',
      settings,
      alpenglowSlot,
    }
  } catch (error) {
    journal.close()
    throw error
  }
}

/** Begins a new chain or continues one, with the settings that it has from now on. Throws ConsensusKeptError. */
function openSettings(
  journal: ChainJournal,
  { dataDir, programsDir, now = () => Date.now(), settings: given, consensus }: LocalChainOptions,
) {
  const own = journal.setting('seed') === null ? DEFAULT_SETTINGS.consensus : consensusIn(journal)
  const fromCache = given === undefined ? readCachedSettings(programsDir, own) : { settings: given, faults: [] }
  const wanted = { ...fromCache.settings, ...(consensus === undefined ? {} : { consensus }) }
  const { seed, clock } = genesisOf(journal, now, { ...DEFAULT_SETTINGS, ...wanted })
  const settings = applySettings(journal, clock, wanted)
  const alpenglowSlot = alpenglowSlotIn(journal)
  if (consensus === 'tower' && alpenglowSlot !== null) throw new ConsensusKeptError(dataDir, alpenglowSlot)
  return { seed, clock, settings, alpenglowSlot, faults: fromCache.faults }
}

/** Reads the accounts of a chain: those that a new one has, and those in the journal, which has every change. */
function readerOf(runtime: Runtime, journal: ChainJournal, genesis: readonly string[]): AccountReader {
  return {
    get: (address) => runtime.get(address),
    *all() {
      for (const address of genesis) {
        const account = runtime.get(address)
        if (account !== null) yield [address, account]
      }
      for (const { address, owner, ...account } of journal.accounts()) {
        if (account.lamports > 0n) yield [base58.encode(address), { ...account, owner: addressOf(owner) }]
      }
    },
  }
}

/** Returns the chain's seed and clock, which are created on its first opening; the clock is at its latest transaction. */
function genesisOf(
  journal: ChainJournal,
  now: () => number,
  settings: ClusterSettings,
): { seed: Uint8Array; clock: SlotClock } {
  const [known, state] = [journal.setting('seed'), journal.setting('clock')]
  if (known !== null) {
    if (state === null) throw new Error('the journal of the embedded chain has a seed and no clock')
    const clock = new SlotClock(JSON.parse(state.toString()) as ClockState, now)
    const last = journal.lastTransaction()
    if (last !== null) clock.resume({ slot: last.slot, unixTimestamp: last.blockTime })
    return { seed: known, clock }
  }
  const seed = randomBytes(32)
  const ms = Math.floor(now())
  // The first slots of a new chain are in the past, so that it has a block at every commitment.
  const genesisMs = ms - COMMITMENT_DEPTH[settings.consensus].finalized * settings.slotMs
  const eras = [{ slot: GENESIS_SLOT, ms: genesisMs, slotMs: settings.slotMs }]
  const clock = new SlotClock({ genesisMs, offsetMs: 0, lastMs: ms, eras }, now)
  journal.commit(() => {
    journal.saveSetting('seed', seed)
    journal.saveSetting('clock', JSON.stringify(clock.state()))
    saveFirstSettings(journal, settings)
  })
  return { seed, clock }
}
