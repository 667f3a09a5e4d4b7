/** Builds the parts of the embedded chain from its folder: genesis, program cache, and the changes in the journal. */
import { createHash, randomBytes } from 'node:crypto'
import { base58 } from '@scure/base'
import { loadSqlite, loadSvm } from '../platform/native-modules.ts'
import { addressOf } from '../solana/addresses.ts'
import { type ClusterSettings, DEFAULT_SETTINGS } from '../solana/cluster-settings.ts'
import { SYSTEM_PROGRAM } from '../solana/program-ids.ts'
import { AccountIndex, type AccountReader } from './account-index.ts'
import { Blockhashes } from './blockhashes.ts'
import { applySettings, readCachedSettings, rentText } from './chain-settings.ts'
import { type ClockState, GENESIS_SLOT, SlotClock } from './clock.ts'
import { FAUCET_LAMPORTS, openFaucet } from './faucet.ts'
import { type ChainJournal, openJournal } from './journal.ts'
import type { ChainParts } from './ledger.ts'
import { loadPrograms } from './programs-dir.ts'
import { Runtime } from './runtime.ts'
import type { LocalChainOptions } from './types.ts'

/** Loads the SDKs, locks the journal and fills the runtime. Throws ChainLockedError. */
export async function openParts({
  dataDir,
  programsDir,
  now = Date.now,
  settings: given,
  sigVerify = true,
}: LocalChainOptions): Promise<ChainParts> {
  const native = await loadSvm()
  const journal = openJournal(loadSqlite(), dataDir)
  try {
    const fromCache = given === undefined ? readCachedSettings(programsDir) : { settings: given, faults: [] }
    const { seed, clock } = genesisOf(journal, now, fromCache.settings)
    const settings = applySettings(journal, clock, fromCache.settings)
    const blockhashes = new Blockhashes(seed)
    const runtime = new Runtime(native, clock, blockhashes, settings.rent, sigVerify)
    const builtIn = runtime.builtInAddresses()
    const faucet = openFaucet(seed)
    const { accounts, programs: added, report } = loadPrograms(runtime, programsDir)
    const base = { lamports: FAUCET_LAMPORTS, owner: SYSTEM_PROGRAM, data: new Uint8Array(), executable: false }
    runtime.set(faucet.address, base)

    const genesis = new Set([...builtIn, faucet.address, ...accounts.keys(), ...added])
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
        return { programs, warnings: [...fromCache.faults, ...warnings, ...notRestored] }
      },
      dataDir: dataDir ?? 'memory',
      settings,
    }
  } catch (error) {
    journal.close()
    throw error
  }
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
  settings: ClusterSettings = DEFAULT_SETTINGS,
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
  const eras = [{ slot: GENESIS_SLOT, ms, slotMs: settings.slotMs }]
  const clock = new SlotClock({ genesisMs: ms, offsetMs: 0, lastMs: ms, eras }, now)
  journal.commit(() => {
    journal.saveSetting('seed', seed)
    journal.saveSetting('clock', JSON.stringify(clock.state()))
    journal.saveSetting('rent', rentText(settings))
  })
  return { seed, clock }
}
