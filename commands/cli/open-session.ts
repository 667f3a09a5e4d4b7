/** Opens the session of a command: its configuration, terminal and client, each on first use. */
import { isAbsolute } from 'node:path'
import { type Client, createClient, type Transport } from '../../src/client.ts'
import { once, pause } from '../../src/platform/timing.ts'
import { type Config, loadConfig, type SettingName } from '../../src/settings/config.ts'
import { redactorOf, shapeRedactor } from '../../src/settings/redaction.ts'
import type { Wallet } from '../signing/wallet.ts'
import type { Paint } from '../ui/paint.ts'
import { EXIT, usage } from '../ui/problem.ts'
import { FORMATS, type Format } from '../ui/render.ts'
import { createUi } from '../ui/ui.ts'
import { isDeviceUrl, isWalletName } from '../wallet/names.ts'
import { asUsage } from './config-problems.ts'
import type { Connection } from './connection.ts'
import type { DaemonParts } from './daemon-parts.ts'
import type { Globals } from './parsed-command.ts'
import { readProfile } from './profiles.ts'
import type { Diversion, Session } from './session.ts'
import type { Terminal } from './terminal.ts'
import { isUnattended } from './unattended.ts'

/** The exit codes that a shell reports for a signal: 128 and the number of the signal. */
const STOPPED_BY = { SIGINT: EXIT.cancelled, SIGTERM: 143, SIGHUP: 129 } as const
type StopSignal = keyof typeof STOPPED_BY
const STOP_SIGNALS = Object.keys(STOPPED_BY) as StopSignal[]

/** A terminal with the process events and the exit function of a command. */
export interface Host extends Terminal {
  on(event: 'uncaughtException' | 'unhandledRejection', listener: (error: unknown) => void): unknown
  once(signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void): unknown
  exit(code: number): void
}

export interface OpenSession extends Session {
  format(): Promise<Format>
  /**
   * Removes the credentials of the settings from a message; before the settings are read, any text that looks like one.
   */
  redact(message: string): string
  /** Reads the options that shape the answer; throws usage problems. */
  readView(): Promise<void>
  close(): Promise<void>
}

export function openSession(
  globals: Globals,
  host: Host,
  paint: Record<'out' | 'err', Paint>,
  daemon: DaemonParts,
): OpenSession {
  const named = globals.profile ?? (host.env.SVC_PROFILE || undefined)
  let redactor = shapeRedactor
  const load = async (more: Partial<Record<SettingName, unknown>> = {}): Promise<Config> => {
    const { settings } = await readProfile(named)
    const trustProject = globals.trustProject ?? false
    const flags = { ...flagsOf(globals), ...more }
    const loaded = loadConfig({ flags, env: host.env, cwd: host.cwd(), profile: settings, trustProject })
    redactor = redactorOf(loaded)
    return loaded
  }
  const config = once(() => load().catch((error) => Promise.reject(asUsage(error))))
  /** Invalid settings must not prevent `svc doctor` from reporting them. */
  let diagnosing = false
  const format = once(async (): Promise<Format> => {
    if (globals.json) return 'json'
    const loaded = await config().catch((error) => {
      if (diagnosing) return undefined
      throw error
    })
    const typed = globals.output ?? host.env.SVC_OUTPUT
    return (loaded?.values.output as Format) ?? FORMATS.find((format) => format === typed) ?? 'table'
  })
  const unattended = isUnattended(host.env)
  const view = isViewed(globals)
    ? once(async () => (await import('../ui/answer-view.ts')).openView(globals))
    : undefined
  const ui = createUi({
    format,
    paint,
    // Standard input comes last, because asking for it sets up its stream.
    interactive: globals.input && !unattended && Boolean(host.stdout.isTTY && host.stderr.isTTY && host.stdin.isTTY),
    animated: !unattended,
    yes: globals.yes ?? false,
    // What --jq selects is for a program, which needs no advice.
    quiet: globals.quiet === true || globals.jq !== undefined,
    documents: globals.json || (globals.output ?? host.env.SVC_OUTPUT) === 'json',
    paged: globals.pager && !unattended,
    cluster: () => session.cluster(),
    view,
  })

  let opening: Promise<Connection> | undefined
  let connection: Connection | undefined
  const closeConnection = once(async () => connection?.close())
  let interruptNote: string | null = null
  const interrupted = (signal: NodeJS.Signals) => {
    if (signal === 'SIGINT' && ui.isPaging) {
      host.once(signal, interrupted)
      return
    }
    if (interruptNote !== null) ui.note(interruptNote)
    ui.flush()
    void closeConnection().finally(() => host.exit(STOPPED_BY[signal as StopSignal]))
  }
  const open = async () => {
    for (const signal of STOP_SIGNALS) host.once(signal, interrupted)
    const { connectToApi } = await import('./connection.ts')
    const made = await connectToApi(await config(), daemon.openLocal, ui.note, ui.warn).catch((error) =>
      Promise.reject(asUsage(error)),
    )
    connection = made
    return made
  }
  const connected = async (): Promise<Connection> => {
    opening ??= open()
    return opening
  }
  const sendDirectly: Transport = async (request) => {
    const answer = await (await connected()).send(request)
    if (answer.status !== 202) return answer
    const { WaitsForApproval } = await import('../signing/waits-for-approval.ts')
    throw new WaitsForApproval(JSON.parse(answer.body).data.proposal)
  }
  let diversion: Diversion | null = null
  const send: Transport = (request) => (diversion === null ? sendDirectly(request) : diversion(request, sendDirectly))
  let client: Client | undefined

  const clusterOfCommand = async (): Promise<Pick<Connection, 'cluster' | 'unchosen'>> => {
    const loaded = await config()
    if (loaded.values.api !== undefined) return { cluster: null, unchosen: null }
    // Only a connection shows which API answers, because daemon.json may belong to a dead daemon.
    const answering = await opening?.catch(() => undefined)
    if (answering !== undefined) return answering
    const { clusterInUse, runningDaemon } = await import('./connection.ts')
    return clusterInUse(loaded, runningDaemon(loaded))
  }

  const session: OpenSession = {
    ui,
    format,
    redact: (message) => redactor.text(message),
    get client() {
      client ??= createClient(send)
      return client
    },
    settings: onFirstCall(async () => (await import('./settings.ts')).createSettings(named, config)),
    localnet: onFirstCall(async () =>
      (await import('../machine/localnet.ts')).createLocalnet(load, daemon.serveLocalnet),
    ),
    database: onFirstCall(async () => (await import('../machine/database/index.ts')).createDatabase(load, ui)),
    storage: onFirstCall(async () => (await import('../machine/storage.ts')).createStorageCopies(load)),
    wallet: lazyWallet(
      async () =>
        (await import('../machine/wallets/wallet.ts')).createWallet(async () => configuredKeypair(await config()), ui),
      // Without a connection no API has answered, so what is signed comes from the user.
      async () =>
        opening === undefined ? undefined : (await import('./connection.ts')).refuseSigningFor(await config()),
    ),
    wallets: onFirstCall(async () => (await import('../machine/wallets/index.ts')).createWallets(ui)),
    clock: { now: Date.now, sleep: pause },
    divert(to) {
      diversion = to
    },
    setInterruptNote(text) {
      interruptNote = text
    },
    cluster: async () => (await clusterOfCommand()).cluster,
    unchosenCluster: async () => (await clusterOfCommand()).unchosen,
    apiUrl: async () => (await connected()).url,
    caller: async () => (await connected()).caller(),
    squads: async () => (await config()).values.squads,
    async serve({ host, port, role: wanted, rpc_host, rpc_port }, onReady) {
      const flags = definedFlags({ host, port, role: wanted, 'rpc-host': rpc_host, 'rpc-port': rpc_port })
      const { url, role, cluster, localnet, closed } = await load(flags)
        .then((started) => daemon.serve(started, () => load(flags)))
        .catch((error) => Promise.reject(asUsage(error)))
      const [rpc_url, ws_url] = [localnet?.rpcUrl ?? null, localnet?.wsUrl ?? null]
      onReady({ pid: process.pid, url, role, cluster, rpc_url, ws_url, notes: localnet?.notes ?? [] })
      await closed
    },
    async diagnose() {
      diagnosing = true
      const { diagnose } = await import('../machine/doctor/index.ts')
      return diagnose(load)
    },
    async readView() {
      await view?.()
    },
    async close() {
      // Options that cannot be read were reported already.
      await view?.().then(
        (opened) => opened.close(),
        () => undefined,
      )
      // The listeners stay until the process ends: Node drops a signal that arrives just before they are removed.
      interruptNote = null
      // A connection that failed to open was already reported by the caller that awaited it.
      await opening?.catch(() => undefined)
      await closeConnection()
    },
  }
  return session
}

/** Whether an option shapes the answer; only then is its code loaded. */
const isViewed = ({ columns, sort, filter, jq, template }: Globals): boolean =>
  [columns, sort, filter, jq, template].some((option) => option !== undefined)

function flagsOf({
  url,
  rpcUrls,
  api,
  apiKeyFile,
  dataDir,
  output,
  json,
}: Globals): Partial<Record<SettingName, unknown>> {
  const files = { 'api-key-file': apiKeyFile, 'data-dir': dataDir }
  return definedFlags({ url, 'rpc-urls': rpcUrls, api, ...files, output: json ? 'json' : output })
}

const definedFlags = (flags: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined))

/**
 * The setting `keypair`: a path, the name of a wallet, or the URL of a device. A profile applies in every folder, so a relative path there
 * would name another file in each.
 */
function configuredKeypair({ values, origins }: Config): string | undefined {
  const { keypair } = values
  if (keypair !== undefined && origins.keypair === 'profile' && !isAnywhere(keypair)) {
    throw usage(
      `keypair in your profile must be an absolute path, the name of a wallet or usb://ledger, not ${keypair}`,
      {
        next: 'set one with `svc config set keypair "$PWD/FILE"`',
      },
    )
  }
  return keypair
}

/** Whether a keypair is the same in every folder. */
const isAnywhere = (keypair: string) => isAbsolute(keypair) || isWalletName(keypair) || isDeviceUrl(keypair)

/** The wallet, loaded on first use; `beforeSigning` throws if signing is not allowed. */
function lazyWallet(load: () => Promise<Wallet>, beforeSigning: () => Promise<void>): Wallet {
  const wallet = once(load)
  return {
    make: async (file) => (await wallet()).make(file),
    address: async (file) => (await wallet()).address(file),
    isDevice: async (file) => (await wallet()).isDevice(file),
    async signText(text, file) {
      await beforeSigning()
      return (await wallet()).signText(text, file)
    },
    derive: async (seed) => (await wallet()).derive(seed),
    async sign(transaction, keys) {
      await beforeSigning()
      return (await wallet()).sign(transaction, keys)
    },
    combine: async (copies) => (await wallet()).combine(copies),
    tokenAccounts: async (mint, program, wallets) => (await wallet()).tokenAccounts(mint, program, wallets),
    metadataAccount: async (mint) => (await wallet()).metadataAccount(mint),
    positionAddress: async (nftMint) => (await wallet()).positionAddress(nftMint),
    claimAddresses: async (mint, count, claimer) => (await wallet()).claimAddresses(mint, count, claimer),
    lockAddress: async (base) => (await wallet()).lockAddress(base),
    differsInBlockhashAlone: async (one, other) => (await wallet()).differsInBlockhashAlone(one, other),
    proposalDifference: async (asked) => (await wallet()).proposalDifference(asked),
    actPaidBy: async (asked, act, member) => (await wallet()).actPaidBy(asked, act, member),
    vaultMessage: async (asked, act) => (await wallet()).vaultMessage(asked, act),
    decode: async (transaction) => (await wallet()).decode(transaction),
    describe: async (transaction, places) => (await wallet()).describe(transaction, places),
    explain: async (transaction, err, logs) => (await wallet()).explain(transaction, err, logs),
  }
}

/**
 * A part of the session that is loaded at the first call of one of its methods; a ConfigError becomes a usage problem.
 */
function onFirstCall<T extends object>(open: () => Promise<T>): T {
  const part = once(open)
  const call = async (name: string | symbol, args: unknown[]) => {
    const methods = (await part()) as Record<string | symbol, (...args: unknown[]) => Promise<unknown>>
    const method = methods[name]
    if (method === undefined) throw new Error(`a session has no ${String(name)}`)
    return method(...args).catch((error: unknown) => Promise.reject(asUsage(error)))
  }
  return new Proxy({} as T, {
    // `await` must not take it for a promise.
    get: (_, name) => (name === 'then' ? undefined : (...args: unknown[]) => call(name, args)),
  })
}
