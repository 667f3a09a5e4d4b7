/** A chain for one rehearsal: the runtime with the program cache, in memory, without signatures, history and files. */
import { loadSvm } from '../platform/native-modules.ts'
import type { ChainAccount } from '../solana/accounts.ts'
import { DEFAULT_SETTINGS, type Rent } from '../solana/cluster-settings.ts'
import type { Execution } from '../solana/execution.ts'
import { decodeWireTransaction } from '../solana/messages.ts'
import { Blockhashes } from './blockhashes.ts'
import { readCachedSettings } from './chain-settings.ts'
import { GENESIS_SLOT, SlotClock } from './clock.ts'
import { loadPrograms } from './programs-dir.ts'
import { Runtime } from './runtime.ts'

export interface RehearsalChain {
  account(address: string): ChainAccount | null
  /** Overwrites an account; null deletes it. */
  set(address: string, account: ChainAccount | null): void
  /** Runs a transaction without checking signatures and blockhash. A failed one pays its fee. */
  run(raw: Uint8Array): Execution
  /** Lamports that make an account of `space` bytes rent-exempt. */
  minimumBalance(space: number): bigint
  /** Advances the clock, which stands still otherwise. */
  advance(seconds: number): void
}

interface RehearsalOptions {
  programsDir: string
  /** Unix milliseconds. */
  now: number
  /** Rent instead of that of the program cache. */
  rent?: Rent
}

const SEED_BYTES = 32

/** Takes about 10 ms, and as long for each program when a transaction first names it. Throws NativeModuleFault. */
export async function openRehearsalChain({ programsDir, now, rent }: RehearsalOptions): Promise<RehearsalChain> {
  const native = await loadSvm()
  const { settings = DEFAULT_SETTINGS } = readCachedSettings(programsDir)
  const eras = [{ slot: GENESIS_SLOT, ms: now, slotMs: settings.slotMs }]
  const clock = new SlotClock({ genesisMs: now, offsetMs: 0, lastMs: now, eras }, () => now)
  const runtime = new Runtime(native, clock, new Blockhashes(new Uint8Array(SEED_BYTES)), rent ?? settings.rent)
  loadPrograms(runtime, programsDir)
  return {
    account: (address) => runtime.get(address),
    set: (address, account) => runtime.set(address, account),
    run(raw) {
      const transaction = decodeWireTransaction(raw)
      runtime.load(transaction.message.keys)
      runtime.enter(clock.tick())
      return runtime.run(transaction, false)
    },
    minimumBalance: (space) => runtime.minimumBalance(space),
    advance: (seconds) => clock.advance(seconds),
  }
}
