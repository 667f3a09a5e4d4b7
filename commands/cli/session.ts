/**
 * Declares what a command can use: the API's client, the terminal, settings, the embedded chain, the local keypair and
 * time.
 */
import type { DaemonRole } from '../../src/api/daemon-roles.ts'
import type { Client, ClientRequest, ClientResponse, Transport } from '../../src/client.ts'
import type { Reloaded } from '../../src/settings/config.ts'
import type { Consensus } from '../../src/solana/constants.ts'
import type { Database } from '../database/installation.ts'
import type { Wallet } from '../signing/wallet.ts'
import type { Ui } from '../ui/ui.ts'
import type { Wallets } from '../wallet/wallets.ts'

/** The session of a command; each part is opened on its first use. */
export interface Session {
  readonly client: Client
  readonly ui: Ui
  readonly settings: Settings
  readonly localnet: Localnet
  readonly database: Database
  readonly storage: StorageCopies
  readonly wallet: Wallet
  readonly wallets: Wallets
  readonly clock: SessionClock
  /** Passes every request of the client to `to`, with what sends it; null sends them again as usual. */
  divert(to: Diversion | null): void
  /** Sets the text that is shown when Ctrl-C ends the command; null shows nothing. */
  setInterruptNote(text: string | null): void
  /** The cluster that commands use, as a moniker or a host; null if only the API knows it. */
  cluster(): Promise<string | null>
  /**
   * Where the cluster's URL comes from if no flag, variable or setting of svc chose the cluster; null if one did. A
   * configuration of the Solana CLI is not a choice for svc.
   */
  unchosenCluster(): Promise<string | null>
  /** The setting `squads`: the multisig whose vault acts. */
  squads(): Promise<string | undefined>
  /** URL at which the API answers over HTTP; null if this process answers. Opens the connection. */
  apiUrl(): Promise<string | null>
  /** The caller and the API; opens the connection. */
  caller(): Promise<ApiCaller>
  /** Runs the daemon until it is stopped. */
  serve(flags: ServeFlags, onReady: (at: ServingDaemon) => void): Promise<void>
  /** Checks this installation; each check is one line. */
  diagnose(): Promise<DoctorCheck[]>
}
export type Diversion = (request: ClientRequest, send: Transport) => Promise<ClientResponse>

/** The owner of a command's idempotency keys, which are valid for one API key of one installation. */
export interface ApiCaller {
  /** The API's URL, or the place of the database if the data folder's daemon or this process answers. */
  api: string
  /** The beginning of the SHA-256 of the API key, in hexadecimal digits; `none` without a key. */
  key: string
}
/** A session with some parts replaced. A spread would call its getters and so open every part. */
export const sessionWith = (
  session: Session,
  own: Partial<Pick<Session, 'ui' | 'setInterruptNote' | 'unchosenCluster'>>,
): Session => Object.create(session, Object.fromEntries(Object.entries(own).map(([name, value]) => [name, { value }])))

/** The clock and the pauses of a command, in milliseconds. */
export interface SessionClock {
  now(): number
  sleep(ms: number): Promise<void>
}
interface ServeFlags {
  host?: string | undefined
  port?: number | undefined
  role?: DaemonRole | undefined
  rpc_host?: string | undefined
  rpc_port?: number | undefined
}
interface ServingDaemon {
  pid: number
  url: string
  role: DaemonRole
  cluster: string
  /** The URLs of the embedded chain, if this daemon serves it. */
  rpc_url: string | null
  ws_url: string | null
  /** Settings that could not be applied, a sentence for each. */
  notes: readonly string[]
}
export interface DoctorCheck {
  check: string
  status: 'ok' | 'warn' | 'fail'
  detail: string
  fix: string | null
}
/** The places of images and metadata; one is that of the setting `storage`. */
export interface StorageCopies {
  /** Copies what that place lacks from the others, and compares everything with its hash. */
  copy(onProgress: (done: number, total: number) => void): Promise<StorageCopyReport>
}
interface StorageCopyReport {
  to: string
  from: readonly string[]
  /** Assets that the other places list. */
  found: number
  copied: number
  /** Assets that were already there, undamaged. */
  present: number
  /** Identifiers for which no place has the right content. */
  damaged: readonly string[]
}
/** The embedded chain of the data folder, through the process that serves it, otherwise in this process. */
export interface Localnet {
  /** Serves only the chain, until it is stopped. */
  start(
    flags: { rpc_host?: string | undefined; rpc_port?: number | undefined; consensus?: Consensus | undefined },
    onReady: (at: LocalnetServing) => void,
  ): Promise<void>
  status(): Promise<LocalnetReport>
  /** A sentence that says where other commands work, if not on this chain; null if they do. */
  elsewhere(): Promise<string | null>
  airdrop(address: string, lamports: bigint): Promise<{ signature: string; lamports: string; balance: string }>
  /** Moves the chain's clock forward by this many seconds. */
  advance(seconds: number): Promise<{ slot: number; unix_timestamp: number }>
  /** Throws a conflict while a process holds the chain. */
  refuseWhileInUse(): Promise<void>
  /** Deletes the chain's journal and returns the deleted files. */
  reset(): Promise<{ files: string[] }>
  /**
   * The programs of a launch that the cache of the embedded chain lacks, and the pid of a process that serves this
   * chain. None are missing if commands use another cluster or a remote API.
   */
  missingPrograms(): Promise<{ missing: readonly { name: string; id: string }[]; owner: number | null }>
  /** Pins the cached builds of programs, or removes their pins; all that are cached when left out. */
  pin(request: { programs?: readonly string[] | undefined; remove: boolean }): Promise<{
    programs_dir: string
    programs: { id: string; name: string; sha256: string; pinned: boolean }[]
  }>
  /**
   * Fills the program cache. `cluster` is a cluster's name or an RPC URL, instead of that of the settings; `progress` is
   * told how many programs and accounts are read.
   */
  pull(
    request: { from?: string | undefined; programs?: readonly string[] | undefined; cluster?: string | undefined },
    progress: (done: number, total: number) => void,
  ): Promise<PullReport>
}
interface LocalnetServing {
  pid: number
  rpc_url: string
  ws_url: string
  notes: readonly string[]
}
export interface LocalnetReport {
  /** The cluster that other commands use, which may be another one. */
  cluster: string
  slot: number
  unix_timestamp: number
  transactions: number
  accounts: number
  /** Milliseconds of a slot. */
  slot_ms: number
  /** Rent in lamports per byte, before the factor for exemption. */
  lamports_per_byte: number
  consensus: Consensus
  /** Slot of the block from which the chain changed to Alpenglow; null on Tower. */
  alpenglow_slot: number | null
  programs: { name: string; id: string; loaded: boolean }[]
  /** The pid of the process that serves the chain; null if it was opened only for this answer. */
  pid: number | null
  rpc_url: string | null
  ws_url: string | null
  data_dir: string
  programs_dir: string
  /** Files of the program cache and accounts that could not be used. */
  warnings: string[]
}
export interface PullReport {
  source: string
  /** The sources that gave nothing, in the order in which they were tried, with the reason. */
  tried: { source: string; error: string }[]
  programs_dir: string
  items: {
    kind: 'program' | 'account'
    name: string
    address: string
    /** `pinned`: the file stays as it is, and a newer build is kept beside it. */
    status: 'written' | 'unchanged' | 'pinned' | 'missing' | 'failed'
    sha256: string | null
    size: number | null
    error: string | null
  }[]
  /** Slot time, rent and consensus of the source, which the embedded chain adopts. */
  settings: {
    status: 'written' | 'unchanged' | 'missing' | 'failed'
    settings: {
      slot_ms: number
      consensus: Consensus
      rent: { lamports_per_byte: number; exemption_threshold: number; burn_percent: number }
    } | null
    error: string | null
  }
}
export interface SettingRow {
  name: string
  value: unknown
  origin: string
  about: string
}
interface SettingsFile {
  kind: string
  path: string
  exists: boolean
}
/**
 * A running daemon that still uses the earlier value; null if none is affected. `reloads`: whether `svc config reload`
 * makes it take up this setting, or only a restart.
 */
export type OldDaemon = { pid: number; url: string; reloads: boolean } | null
/** Reads the settings of every layer and writes those of the profile. */
export interface Settings {
  list(): Promise<SettingRow[]>
  /** `resolved`: whether a relative path was made absolute. */
  set(
    name: string,
    value: string,
  ): Promise<{
    name: string
    value: unknown
    profile: string
    file: string
    daemon: OldDaemon
    resolved: boolean
  }>
  unset(name: string): Promise<{ name: string; removed: boolean; profile: string; file: string; daemon: OldDaemon }>
  /** Makes the running daemon reload its settings. Throws a failure if none runs, or if it does not answer. */
  reload(): Promise<Reloaded & { url: string; pid: number }>
  files(): Promise<SettingsFile[]>
  profiles(): Promise<{ name: string; current: boolean; settings: Record<string, unknown> }[]>
  use(profile: string): Promise<{ profile: string; file: string; daemon: OldDaemon }>
}
