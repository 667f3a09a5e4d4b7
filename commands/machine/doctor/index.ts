/** Runs the checks of `svc doctor`; each is independent, so that one fault does not hide the next. */
import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { FileFault, requireDataFolder } from '../../../src/platform/files.ts'
import { outgoingProxy, useOutgoingProxy } from '../../../src/platform/outgoing-proxy.ts'
import { type Config, DAEMON_FILE, ENCRYPTION_KEY_FILE, OPERATOR_KEY_FILE } from '../../../src/settings/config.ts'
import { redactorOf } from '../../../src/settings/redaction.ts'
import { chosenKey, configuredKey, readApiKeyFile, runningDaemon } from '../../cli/connection.ts'
import { unreadVariables, variableRemedy } from '../../cli/environment-names.ts'
import { openHttp } from '../../cli/http-transport.ts'
import type { DoctorCheck } from '../../cli/session.ts'
import { terminal } from '../../cli/terminal.ts'
import { Problem } from '../../ui/problem.ts'
import { isDeviceUrl } from '../../wallet/names.ts'
import { errorText, failedCheck, passedCheck, warningCheck } from './checks.ts'
import { chainFileChecks, databaseChecks } from './database.ts'

const NODE = [20, 19] as const
const API_PROBE_MS = 5_000

/** Runs every check that the configuration allows; creates nothing. */
export async function diagnose(load: () => Promise<Config>): Promise<DoctorCheck[]> {
  const checks = [nodeVersion(), ...(await variableChecks())]
  let config: Config
  try {
    config = await load()
  } catch (error) {
    return [
      ...checks,
      failedCheck('configuration', (error as Error).message, 'correct that setting, then run this again'),
    ]
  }
  checks.push(passedCheck('configuration', 'every setting can be read'), ...secretFileChecks(config))
  await useOutgoingProxy(process.env)
  const proxy = outgoingProxy(process.env)
  if (proxy !== null)
    checks.push(
      passedCheck('proxy', `requests to nodes and providers go through ${proxy.variables[0]}; webhooks never do`),
    )
  checks.push(dataFolder(config), ...keyFiles(config), ...(await ledgerChecks(config)))
  checks.push(...(await databaseChecks(config)), ...(await chainFileChecks(config)), await daemon(config))
  if (config.values.api !== undefined) checks.push(...(await apiChecks(config, config.values.api)))
  const { chainChecks } = await import('./chain.ts')
  checks.push(...(await chainChecks(config)))
  const { text } = redactorOf(config)
  return checks.map((check) => ({ ...check, detail: text(check.detail) }))
}

/** Files of `SVC_…_FILE` variables, which were read with the configuration. */
const secretFileChecks = ({ secretFiles }: Config): DoctorCheck[] =>
  Object.entries(secretFiles).map(([name, file]) => passedCheck('secret file', `${name} from ${file}`))

/** Variables that nothing reads; a person may have meant others. */
async function variableChecks(): Promise<DoctorCheck[]> {
  const unread = await unreadVariables(terminal().env, true)
  return unread.map((variable) => warningCheck('environment', `${variable.name} is not read`, variableRemedy(variable)))
}

function nodeVersion(): DoctorCheck {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const enough = major > NODE[0] || (major === NODE[0] && minor >= NODE[1])
  return enough
    ? passedCheck('node', process.versions.node)
    : failedCheck('node', process.versions.node, `install Node.js ${NODE.join('.')} or later`)
}

function dataFolder({ dataDir }: Config): DoctorCheck {
  if (!existsSync(dataDir)) return passedCheck('data folder', `${dataDir} (made on first use)`)
  const stats = statSync(dataDir)
  if (!stats.isDirectory())
    return failedCheck('data folder', `${dataDir} is not a folder`, 'choose another with --data-dir')
  try {
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch {
    return failedCheck(
      'data folder',
      `${dataDir} cannot be written`,
      `chown it to this user, or choose another with --data-dir`,
    )
  }
  try {
    requireDataFolder(dataDir)
  } catch (error) {
    const { problem: what, next } = error as FileFault
    return failedCheck('data folder', what, next)
  }
  if ((stats.mode & 0o077) !== 0)
    return warningCheck('data folder', `${dataDir} can be read by others`, `chmod 700 ${dataDir}`)
  return passedCheck('data folder', dataDir)
}

function keyFiles(config: Config): DoctorCheck[] {
  const local = [OPERATOR_KEY_FILE, ENCRYPTION_KEY_FILE]
    .map((name) => join(config.dataDir, name))
    .filter((file) => existsSync(file))
    .map((file) => ({ file, read: () => readApiKeyFile(file) }))
  const file = config.values['api-key-file']
  const chosen = file === undefined ? [] : [{ file, read: () => configuredKey(config) }]
  return [...local, ...chosen].map(({ file, read }) => {
    try {
      read()
      return passedCheck('key file', file)
    } catch (error) {
      const next = error instanceof FileFault || error instanceof Problem ? error.next : undefined
      const what = error instanceof FileFault ? error.problem : errorText(error)
      return failedCheck('key file', what, next ?? 'correct it, or remove it if svc made it')
    }
  })
}

async function daemon(config: Config): Promise<DoctorCheck> {
  let running: ReturnType<typeof runningDaemon>
  try {
    running = runningDaemon(config)
  } catch (error) {
    if (!(error instanceof FileFault)) throw error
    return failedCheck('daemon', error.problem, error.next)
  }
  if (running === undefined) {
    const hasLeftover = existsSync(join(config.dataDir, DAEMON_FILE))
    if (hasLeftover) {
      const { lockFolder } = await import('../../../src/platform/folder-lock.ts')
      const unlock = await lockFolder(config.dataDir)
      if (unlock === undefined)
        return failedCheck('daemon', 'one is running, but daemon.json does not name it', 'stop it and start it again')
      unlock()
    }
    return passedCheck(
      'daemon',
      hasLeftover ? 'not running (it ended without removing daemon.json)' : 'not running; commands work on their own',
    )
  }
  const answer = await probe(running.url, '/v2/health')
  const role = running.role === undefined ? '' : `, role ${running.role}`
  if (answer === 200) return passedCheck('daemon', `pid ${running.pid} at ${running.url}${role}`)
  return failedCheck(
    'daemon',
    `pid ${running.pid} at ${running.url}: ${answer}`,
    `restart it, or remove ${running.file} if that process is something else`,
  )
}

async function apiChecks(config: Config, url: string): Promise<DoctorCheck[]> {
  const health = await probe(url, '/v2/health')
  if (health !== 200) return [failedCheck('api', `${url}: ${health}`, 'check the setting api and the network')]
  let key: string | undefined
  try {
    key = chosenKey(config)
  } catch (error) {
    const next = error instanceof Problem ? error.next : undefined
    return [
      passedCheck('api', `${url} answers`),
      failedCheck('api key', errorText(error), next ?? 'see the check of the key file'),
    ]
  }
  if (!key)
    return [
      passedCheck('api', `${url} answers`),
      warningCheck(
        'api key',
        'none is given',
        `set api-key-file or SVC_API_KEY${config.emptyVariables.includes('SVC_API_KEY') ? ', which is empty' : ''}`,
      ),
    ]
  const status = await probe(url, '/v2/health/workers', key)
  const keyCheck =
    status === 200
      ? passedCheck('api key', 'accepted')
      : failedCheck('api key', `refused: ${status}`, 'make another with `svc keys create`')
  return [passedCheck('api', `${url} answers`), keyCheck]
}

/** The HTTP status of the answer, or the text of the error. */
async function probe(url: string, path: string, key?: string): Promise<number | string> {
  try {
    const http = await openHttp(url, key, API_PROBE_MS)
    try {
      return (await http.send({ method: 'GET', path, headers: {} })).status
    } finally {
      http.close()
    }
  } catch (error) {
    return errorText(error)
  }
}

// Checks the Ledger that the setting `keypair` names: its packages, its state, and the address of its key.

const CHECK = 'ledger'

/** One check if the setting names a Ledger. One that is not ready is a warning, because only signing needs it. */
async function ledgerChecks({ values: { keypair } }: Config): Promise<DoctorCheck[]> {
  if (keypair === undefined || !isDeviceUrl(keypair)) return []
  const { ledgerSigner } = await import('../wallets/ledger/signer.ts')
  try {
    const { address } = await ledgerSigner(keypair, () => undefined)
    return [passedCheck(CHECK, `${keypair} has the address ${address}`)]
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const check = error.code === 'bad_request' ? failedCheck : warningCheck
    return [check(CHECK, error.message, error.next ?? 'run this again')]
  }
}
