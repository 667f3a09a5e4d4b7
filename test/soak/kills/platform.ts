/** A daemon that comes and goes over a chain in a process of its own: with a vault that signs, and proxies that kill it at a call. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Connection, VersionedTransaction } from '@solana/web3.js'
import { type ChainProcess, startChain } from '../../support/chain-process.ts'
import { type Daemon, startDaemon } from '../../support/daemon.ts'
import { PROGRAMS_DIR } from '../../support/programs.ts'
import { removeFolder } from '../../support/service.ts'
import { makeSharedFolder } from '../../support/shared-folder.ts'
import { startVault, type VaultServer } from '../../support/vault-server.ts'
import { startTrappingProxy, type Trap, type TrappingProxy } from '../trapping-proxy.ts'
import { killAt } from './harness.ts'

/** A call to the vault or to the node, or so many milliseconds. */
export type PlatformPoint = { of: 'vault' | 'node'; trap: Trap } | number

export interface Platform {
  /** Of the daemon. */
  dataDir: string
  chainProcess: ChainProcess
  chain: Connection
  node: TrappingProxy
  /** The one that runs, or ran last. */
  daemon: Daemon
  missed: Trap[]
  /** Starts the daemon again. */
  start(more?: Record<string, string>): Promise<void>
  /** Kills the daemon at the point while `busy` is under way, and waits until that has ended too; true if it was running. */
  killAt(point: PlatformPoint, patienceMs: number, busy?: () => Promise<unknown>[]): Promise<boolean>
  end(): Promise<void>
}

export interface SigningPlatform extends Platform {
  vault: VaultServer
  /** What the vault was asked to sign. */
  inputs(): Buffer[]
}

interface PlatformOptions {
  /** Of every daemon. */
  env?: Record<string, string>
  proxies?: { vault?: TrappingProxy }
  /** The daemon asks the chain itself, over WebSocket too, which the proxy has not. */
  direct?: boolean
}

/** The first daemon is started by `start`. */
export async function openPlatform({ env = {}, proxies = {}, direct = false }: PlatformOptions = {}) {
  const home = makeSharedFolder('svc-')
  const [dataDir, chainDir] = [join(home, 'daemon'), join(home, 'chain')]
  for (const folder of [dataDir, chainDir]) mkdirSync(folder)
  // Every state of a transaction is a moment of its own on Tower.
  const chainProcess = await startChain(chainDir, { SVC_PROGRAMS_DIR: PROGRAMS_DIR, SVC_CONSENSUS: 'tower' })
  const node = await startTrappingProxy(chainProcess.url)
  const platform: Platform = {
    dataDir,
    chainProcess,
    chain: new Connection(chainProcess.url, 'confirmed'),
    node,
    daemon: undefined as unknown as Daemon,
    missed: [],
    async start(more = {}) {
      platform.daemon = await startDaemon({
        dataDir,
        flags: ['-u', direct ? chainProcess.url : node.url],
        env: { SVC_PROGRAMS_DIR: PROGRAMS_DIR, ...env, ...more },
      })
    },
    async killAt(point, patienceMs, busy = () => []) {
      const [at, proxy] =
        typeof point === 'number' ? [point, node] : [point.trap, point.of === 'node' ? node : proxies.vault!]
      const killed = killAt(platform.daemon.process, at, proxy, patienceMs)
      const [{ missed, wasRunning }] = await Promise.all([killed, ...busy()])
      if (missed) platform.missed.push(at as Trap)
      return wasRunning
    },
    async end() {
      await platform.daemon?.stop()
      await Promise.all([node, ...Object.values(proxies)].map((proxy) => proxy.close()))
      await chainProcess.stop()
      removeFolder(home)
    },
  }
  return platform
}

/** The same with a platform wallet whose key is in the vault. */
export async function openSigningPlatform(env: Record<string, string> = {}): Promise<SigningPlatform> {
  const vault = await startVault()
  const proxy = await startTrappingProxy(vault.url)
  const signer = {
    SVC_SIGNER: 'vault',
    SVC_SIGNER_VAULT_URL: proxy.url,
    SVC_SIGNER_VAULT_KEY: vault.keyName,
    SVC_SIGNER_VAULT_TOKEN: vault.token,
    SVC_SIGNER_PUBLIC_KEY: vault.key.address,
    SVC_PRIORITY_FEE: 'none',
  }
  const platform = await openPlatform({ env: { ...signer, ...env }, proxies: { vault: proxy } })
  return Object.assign(platform, {
    vault,
    inputs: () =>
      vault.requests.flatMap(({ body }) => (body === '' ? [] : [Buffer.from(JSON.parse(body).input, 'base64')])),
    end: ((end) => async () => {
      await end()
      await vault.close()
    })(platform.end),
  })
}

/** Kills the daemon at the point amid a wave of requests, starts it again, and asks again for what was cut off. */
export async function killAmidWave({ platform, requests, wave }: UnderWave, point: PlatformPoint, patienceMs: number) {
  await platform.killAt(point, patienceMs, wave)
  await platform.start()
  await requests.askAgain()
}

interface UnderWave {
  platform: Platform
  requests: { askAgain(): Promise<void> }
  wave(): Promise<unknown>[]
}

/** Traps at the vault's signature and at the node, at the `nth` of the calls that fit. */
export function trapsOf({ vault }: SigningPlatform, nth: () => number) {
  const sign = `POST /v1/transit/sign/${vault.keyName}`
  return {
    vault: (when: Trap['when'], afterMs?: number): PlatformPoint => ({
      of: 'vault',
      trap: { method: sign, when, nth: nth(), ...(afterMs === undefined ? {} : { afterMs }) },
    }),
    node: (method: string, when: Trap['when']): PlatformPoint => ({ of: 'node', trap: { method, when, nth: nth() } }),
  }
}

/** What the daemon built, with these signatures too. */
export function signedBy(transaction: string, ...keys: Parameters<VersionedTransaction['sign']>[0]): string {
  const decoded = VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'))
  decoded.sign(keys)
  return Buffer.from(decoded.serialize()).toString('base64')
}
