/** examples/deploy and docs/self-hosting.md against the product: settings, flags, ports, paths, limits and time-outs. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { execa } from 'execa'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readCommand } from '../commands/cli/program.ts'
import { paths } from '../src/api/paths.ts'
import {
  environmentName,
  fileVariable,
  loadConfig,
  SETTINGS,
  type Setting,
  type SettingName,
} from '../src/settings/config.ts'
import { ROOT } from '../tools/source.ts'
import { startDaemon } from './support/daemon.ts'
import { itOnSqliteAlone, onPostgres } from './support/database.ts'
import { freePort } from './support/ports.ts'
import { runs } from './support/runs.ts'
import { startService, temporaryFolder } from './support/service.ts'
import { yamlFaults } from './support/yaml.ts'

const FOLDER = join(ROOT, 'examples/deploy')
const GUIDE = 'docs/self-hosting.md'
const FILES = [
  ...readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
    .map((name) => relative(ROOT, join(FOLDER, name)))
    .filter((name) => statSync(join(ROOT, name)).isFile()),
  GUIDE,
]
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8')
const [DOCKERFILE, COMPOSE, UNIT, CADDY, NGINX, ...MANIFESTS] = [
  'docker/Dockerfile',
  'compose/compose.yaml',
  'systemd/svc.service',
  'caddy/Caddyfile',
  'nginx/svc.conf',
  ...['namespace', 'settings', 'api', 'worker', 'network-policy', 'kustomization'].map(
    (name) => `kubernetes/${name}.yaml`,
  ),
].map((name) => `examples/deploy/${name}`) as [string, string, string, string, string, ...string[]]
const MANIFEST = Object.fromEntries(MANIFESTS.map((file) => [/(\w[\w-]*)\.yaml$/.exec(file)![1]!, read(file)]))

const NAMES = Object.keys(SETTINGS) as SettingName[]
const setting = (name: string): Setting | undefined => (SETTINGS as Record<string, Setting>)[name]
const DEFAULT_PORT = String(SETTINGS.port.default)
/** What a build without roles of daemons, or without assets in the database, leaves out. */
const lacksRoles = setting('role') === undefined
const lacksSharedAssets = !setting('storage')?.choices?.includes('database')

/** Whether the program is installed, as the shell finds it. */
const isInstalled = (program: string) => spawnSync('which', [program]).status === 0

describe('every file', () => {
  it('is listed in these tests', () => {
    const known = [DOCKERFILE, COMPOSE, UNIT, CADDY, NGINX, ...MANIFESTS, GUIDE]
    const rest = FILES.filter((file) => !known.includes(file))
    expect(rest.sort()).toEqual([
      'examples/deploy/README.md',
      'examples/deploy/docker/.dockerignore',
      'examples/deploy/haproxy/haproxy.cfg',
    ])
  })

  it.each(FILES)('%s names only variables that are settings', (file) => {
    const variables = new Set([
      'SVC_API_KEY',
      ...NAMES.map(environmentName),
      ...NAMES.flatMap((name) => fileVariable(name) ?? []),
    ])
    const named = [...read(file).matchAll(/\bSVC_[A-Z0-9_]+\b/g)].map(([variable]) => variable)
    expect(named.filter((variable) => !variables.has(variable))).toEqual([])
  })

  it.each(FILES)('%s passes secrets only as files', (file) => {
    const secrets = NAMES.filter((name) => setting(name)?.secret).map(environmentName)
    const given = [...read(file).matchAll(/\b(SVC_[A-Z0-9_]+)(?:=|: )(?!sqlite\b)/g)].map(([, variable]) => variable!)
    expect(given.filter((variable) => secrets.includes(variable))).toEqual([])
    expect(read(file)).not.toMatch(/BEGIN [A-Z ]*PRIVATE KEY|svc_(?:live|test)_[0-9A-Za-z]{32}|whsec_/)
  })

  it('uses only paths that the daemon serves', async () => {
    const service = await startService()
    const served = [...Object.values(paths).flatMap((verbs) => Object.values(verbs).map(([, path]) => path as string))]
    const named = FILES.flatMap((file) => [
      ...read(file).matchAll(/(?<=[\s:0-9"'`]|domain|com)\/(?:v2\/[\w/-]+|ready|metrics)\b/g),
    ])
      .map(([path]) => path)
      .filter((path) => !served.includes(path))
    expect([...new Set(named)].sort()).toEqual(['/metrics', '/ready', '/v2/docs'])
    for (const path of new Set(named)) {
      expect([path, (await service.app.fetch(new Request(`http://svc.test${path}`))).status]).not.toEqual([path, 404])
    }
  })

  it('uses one port, the default', () => {
    const ports = (file: string, pattern: RegExp) => [...read(file).matchAll(pattern)].map(([, port]) => port)
    expect(ports(DOCKERFILE, /(?:SVC_PORT=|EXPOSE )(\d+)/g)).toEqual([DEFAULT_PORT, DEFAULT_PORT])
    expect(ports(COMPOSE, /(?:expose: \["|api:)(\d+)/g)).toEqual([DEFAULT_PORT, DEFAULT_PORT])
    expect(ports(UNIT, /(?:SVC_PORT=|127\.0\.0\.1:)(\d+)/g)).toEqual([DEFAULT_PORT, DEFAULT_PORT])
    expect(ports(CADDY, /127\.0\.0\.1:(\d+)/g)).toEqual([DEFAULT_PORT])
    expect(ports(NGINX, /server 127\.0\.0\.1:(\d+)/g)).toEqual([DEFAULT_PORT])
    expect(ports('examples/deploy/kubernetes/api.yaml', /containerPort: (\d+)/g)).toEqual([DEFAULT_PORT])
    expect(ports('examples/deploy/kubernetes/worker.yaml', /containerPort: (\d+)/g)).toEqual([DEFAULT_PORT])
    expect(ports('examples/deploy/kubernetes/network-policy.yaml', /port: (8787)/g)).toEqual([DEFAULT_PORT])
    expect([...new Set(ports(GUIDE, /127\.0\.0\.1:(\d+)/g))]).toEqual([DEFAULT_PORT])
  })

  it('sets only values that are accepted', () => {
    const pairs = [
      ...read(DOCKERFILE).matchAll(/(SVC_\w+)=(\S+)/g),
      ...read(COMPOSE).matchAll(/(SVC_\w+): "?([^"\n]+)/g),
      ...read(UNIT).matchAll(/^Environment=(SVC_\w+)=(\S+)/gm),
      ...MANIFEST.settings!.matchAll(/(SVC_\w+): "?([^"\n]+)/g),
    ].map(([, variable, value]) => [variable!, value!.replace(/\$\{DOMAIN[^}]*\}/, 'svc.example.com')] as const)
    const plain = pairs.filter(([variable]) => !variable.endsWith('_FILE'))
    expect(plain.length).toBeGreaterThanOrEqual(9)
    const checked = plain.filter(
      ([variable, value]) => !(lacksSharedAssets && variable === 'SVC_STORAGE' && value === 'database'),
    )
    for (const [variable, value] of checked) {
      const { origins } = loadConfig({ env: { HOME: ROOT, [variable]: value }, cwd: '/' })
      expect([variable, Object.values(origins).includes('environment')]).toEqual([variable, true])
    }
  })

  it.skipIf(lacksSharedAssets)('stores assets where every pod finds them', () => {
    expect(MANIFEST.settings).toContain('SVC_STORAGE: database')
  })
})

describe('production', { tags: 'sampled' }, () => {
  const KUBERNETES = MANIFEST.settings!

  it.each([
    ['the unit', read(UNIT)],
    ['Compose', read(COMPOSE)],
    ['Kubernetes', KUBERNETES],
  ])('names its cluster and its database in %s', (_, text) => {
    const lines = text.split('\n').filter((line) => !line.trimStart().startsWith('#'))
    const given = lines.flatMap((line) => /\b(SVC_\w+)(?:=|: )\S/.exec(line)?.[1] ?? [])
    expect(given.filter((name) => /^SVC_(?:URL|RPC_URLS)(?:_FILE)?$/.test(name))).toHaveLength(1)
    expect(given.filter((name) => /^SVC_DATABASE_URL(?:_FILE)?$/.test(name))).toHaveLength(1)
  })

  it('is set by the systemd unit and the image', () => {
    expect(read(UNIT)).toContain('\nEnvironment=NODE_ENV=production\n')
    expect(read(DOCKERFILE)).toMatch(/ENV NODE_ENV=production /)
  })

  it('finds the credentials of the unit by path, because systemd before 250 has no %d', () => {
    const text = read(UNIT)
    const named = [...text.matchAll(/^#?Environment=SVC_\w+_FILE=(\S+)$/gm)].map(([, path]) => path)
    const loaded = [...text.matchAll(/^#?LoadCredential=([\w-]+):/gm)].map(([, name]) => name)
    expect(named).toEqual(loaded.map((name) => `/run/credentials/svc.service/${name}`))
  })

  const cluster = { SVC_URL: 'http://127.0.0.1:1' }
  const started = (env: Record<string, string>) =>
    startDaemon({ dataDir: temporaryFolder(), env: { NODE_ENV: 'production', SVC_LOG_LEVEL: 'warn', ...env } })

  itOnSqliteAlone('refuses to start if a required setting is missing', 'the run names the database', async () => {
    const refusals: [env: Record<string, string>, told: RegExp][] = [
      [{}, /ended with 2: .*needs a cluster and a database: set SVC_URL and SVC_DATABASE_URL/s],
      [cluster, /ended with 2: .*needs a database: set SVC_DATABASE_URL \(`sqlite` for the file\)/s],
      [{ SVC_DATABASE_URL: 'sqlite' }, /ended with 2: .*needs a cluster: set SVC_URL\b/s],
    ]
    for (const [env, told] of refusals.slice(0, runs(1, 3))) await expect(started(env)).rejects.toThrow(told)
  })
})

describe('the first process of a container', () => {
  it('is an init of the platform in every sample', () => {
    const daemon = /x-svc: &svc\n((?: {2}.*\n)+)/.exec(read(COMPOSE))![1]!
    expect(daemon).toContain('\n  init: true\n')
    for (const pod of [MANIFEST.api!, MANIFEST.worker!]) expect(pod).toContain('shareProcessNamespace: true')
  })
})

describe('limits and time-outs', () => {
  const seconds = (text: string, pattern: RegExp) => {
    const [, amount, unit] = pattern.exec(text) ?? []
    expect([pattern, amount]).not.toEqual([pattern, undefined])
    return Number(amount) * (unit === 'm' ? 60 : 1)
  }
  /** What a daemon needs at most once it takes nothing any more, see docs/operating.md. */
  const END_SECONDS = 10

  it.each([
    ['nginx', NGINX, /client_max_body_size (\d+)m/],
    ['Caddy', CADDY, /max_size (\d+)MiB/],
  ])('%s let through what the daemon accepts, and little more', (_, file, pattern) => {
    const [, mebibytes] = pattern.exec(read(file))!
    expect(Number(mebibytes) - SETTINGS['body-limit-mib'].default).toBe(1)
  })

  it('of proxies are longer for clients than those of the daemon, and shorter for kept connections', () => {
    const [nginx, caddy] = [read(NGINX), read(CADDY)]
    const { 'header-timeout-seconds': header, 'request-timeout-seconds': body, 'idle-timeout-seconds': idle } = SETTINGS
    expect(seconds(nginx, /client_header_timeout (\d+)(s)/)).toBeGreaterThan(header.default)
    expect(seconds(nginx, /client_body_timeout (\d+)(s)/)).toBeGreaterThan(body.default)
    expect(seconds(caddy, /read_header (\d+)(s)/)).toBeGreaterThan(header.default)
    expect(seconds(caddy, /read_body (\d+)(s)/)).toBeGreaterThan(body.default)
    const [, milliseconds] = /const SILENCE_MS = ([\d_]+)/.exec(read('daemon/http-server.ts'))!
    const silence = Number(milliseconds!.replaceAll('_', '')) / 1_000
    const waits: [string, RegExp, RegExp][] = [
      [nginx, /\n\s+keepalive_timeout (\d+)(s);\n\}/, /proxy_read_timeout (\d+)(s)/],
      [caddy, /\n\s+keepalive (\d+)(s)/, /response_header_timeout (\d+)(s)/],
    ]
    for (const [text, kept, answer] of waits) {
      expect(seconds(text, kept)).toBeLessThan(idle.default - 10)
      // The longest request is answered in half of that.
      expect(seconds(text, answer)).toBe(silence / 2)
    }
    expect(nginx).toMatch(/proxy_http_version 1\.1;\n\s+proxy_set_header Connection "";/)
    expect(nginx).toContain('proxy_request_buffering off')
  })

  it('of supervisors allow for drain-seconds and the end of the daemon', () => {
    const drain = (text: string) => seconds(text, /SVC_DRAIN_SECONDS: "(\d+)()"/)
    expect(seconds(read(COMPOSE), /stop_grace_period: (\d+)(s)/)).toBeGreaterThan(drain(read(COMPOSE)) + END_SECONDS)
    for (const pod of [MANIFEST.api!, MANIFEST.worker!]) {
      expect(seconds(pod, /terminationGracePeriodSeconds: (\d+)()/)).toBeGreaterThan(
        drain(MANIFEST.settings!) + END_SECONDS,
      )
      const [, period, failures] = /readinessProbe:[\s\S]*?periodSeconds: (\d+)[\s\S]*?failureThreshold: (\d+)/.exec(
        pod,
      )!
      expect(Number(period) * Number(failures)).toBeLessThan(drain(MANIFEST.settings!))
    }
    expect(seconds(read(UNIT), /TimeoutStopSec=(\d+)()/)).toBeGreaterThan(
      SETTINGS['drain-seconds'].default + END_SECONDS,
    )
    expect(seconds(read(CADDY), /health_interval (\d+)(s)/) * 2).toBeLessThan(drain(read(COMPOSE)))
  })
})

describe('the image', () => {
  const dockerfile = read(DOCKERFILE)
  const last = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '))

  it('is built in two stages, runs without root, and has no secret in a layer', () => {
    expect([...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image)).toEqual([
      'node:22-bookworm-slim',
      'node:22-bookworm-slim',
    ])
    expect([...last.matchAll(/^USER (\S+)/gm)].map(([, user]) => user)).toEqual(['10001:10001'])
    expect(dockerfile).not.toMatch(/^ARG |\b(?:KEY|SECRET|PASSWORD|TOKEN)\w*=/m)
    expect(last).not.toMatch(/^(?:COPY(?! --from=build)|ADD) /m)
    expect(read('examples/deploy/docker/.dockerignore').split('\n').slice(0, 1)).toEqual(['*'])
    const [name] = [/COPY (\S+)-\*\.tgz/.exec(dockerfile)![1]]
    expect(name).toBe('svc-launch-cli')
  })

  it('has a health check that passes only beside a ready daemon of production, which warns of an embedded chain', async () => {
    const [, list] = /^HEALTHCHECK[\s\S]*?CMD (\[.*\])$/m.exec(dockerfile)!
    const [program, ...args] = JSON.parse(list!) as string[]
    expect(program).toBe('node')
    const check = (port: string | number) =>
      execa(process.execPath, args, { env: { SVC_PORT: String(port) }, extendEnv: false, reject: false })
    let log = ''
    const onLog = (text: string) => {
      log += text
    }
    const named = onPostgres ? {} : { SVC_DATABASE_URL: 'sqlite' }
    const env = { NODE_ENV: 'production', SVC_URL: 'embedded', ...named }
    const daemon = await startDaemon({ dataDir: temporaryFolder(), env, flags: ['--rpc-port', '0'], onLog })
    onTestFinished(() => daemon.stop())
    expect((await fetch(`${daemon.url}/v2/health`)).status).toBe(200)
    expect((await check(new URL(daemon.url).port)).exitCode).toBe(0)
    expect((await check(await freePort())).exitCode).toBe(1)
    await daemon.stop()
    expect(log).toContain('production uses the embedded chain')
  })
})

describe('YAML', () => {
  it.each([COMPOSE, ...MANIFESTS])('%s has no fault', (file) => {
    expect(yamlFaults(read(file))).toEqual([])
  })

  it('starts daemons with existing commands', async () => {
    const roles = [read(COMPOSE), MANIFEST.api!, MANIFEST.worker!].flatMap((text) => [
      ...text.matchAll(/(?:command|args): (\["serve", [^\]]+\])/g),
    ])
    const typed = roles.map(([, list]) => JSON.parse(list!) as string[])
    expect(typed).toEqual(['api', 'worker', 'api', 'worker'].map((role) => ['serve', '--role', role]))
    if (lacksRoles) return
    for (const argv of typed) await expect(readCommand(argv)).resolves.toHaveProperty('verb')
  })

  it('of Kubernetes names the kind of each object', () => {
    const objects = Object.entries(MANIFEST).flatMap(([name, text]) =>
      text
        .split(/^---$/m)
        .map((document) => [name, /^kind: (\w+)$/m.exec(document)?.[1], /^apiVersion: (\S+)$/m.exec(document)?.[1]]),
    )
    expect(objects.map(([, kind, version]) => `${version} ${kind}`).sort()).toEqual([
      'apps/v1 Deployment',
      'apps/v1 Deployment',
      'kustomize.config.k8s.io/v1beta1 Kustomization',
      'networking.k8s.io/v1 NetworkPolicy',
      'policy/v1 PodDisruptionBudget',
      'policy/v1 PodDisruptionBudget',
      'v1 ConfigMap',
      'v1 Namespace',
      'v1 Service',
    ])
    const listed = [...MANIFEST.kustomization!.matchAll(/^ {2}- (\S+\.yaml)$/gm)].map(([, name]) => name)
    expect(listed.sort()).toEqual(
      Object.keys(MANIFEST)
        .filter((name) => name !== 'kustomization')
        .map((name) => `${name}.yaml`)
        .sort(),
    )
  })

  it.each(['api', 'worker'])('of the %s pods restricts them and has liveness and readiness probes', (role) => {
    const pod = MANIFEST[role]!
    for (const line of [
      'enableServiceLinks: false',
      'automountServiceAccountToken: false',
      'runAsNonRoot: true',
      'runAsUser: 10001',
      'readOnlyRootFilesystem: true',
      'allowPrivilegeEscalation: false',
      'drop: [ALL]',
      'type: RuntimeDefault',
      'defaultMode: 0440',
    ]) {
      expect(pod).toContain(line)
    }
    expect(pod).toMatch(/startupProbe:\n\s+httpGet: \{ path: \/v2\/health,/)
    expect(pod).toMatch(/livenessProbe:\n\s+httpGet: \{ path: \/v2\/health,/)
    expect(pod).toMatch(/readinessProbe:\n\s+httpGet: \{ path: "?\/ready[?",]/)
    expect(pod).toMatch(/kind: PodDisruptionBudget[\s\S]*maxUnavailable: 1/)
    // Folders that a daemon writes to are volumes, as the root is read-only.
    const [, dataDir] = /SVC_DATA_DIR=(\S+)/.exec(read(DOCKERFILE))!
    const mounts = [...pod.matchAll(/mountPath: ([^,\s]+)/g)].map(([, path]) => path!)
    expect(mounts.some((path) => dataDir!.startsWith(`${path}/`))).toBe(true)
    for (const [, path] of MANIFEST.settings!.matchAll(/_FILE: (\S+)/g)) {
      expect(mounts.some((mount) => path!.startsWith(`${mount}/`))).toBe(true)
    }
  })
})

describe('the tools that read the samples, if they are installed', () => {
  it.skipIf(!isInstalled('kubectl'))('kubectl kustomize builds the manifests', () => {
    const { status, stdout, stderr } = spawnSync('kubectl', ['kustomize', join(FOLDER, 'kubernetes')], {
      encoding: 'utf8',
    })
    expect([status, stderr]).toEqual([0, ''])
    expect(stdout.match(/image: registry\.example\.com\/svc:/g)).toHaveLength(2)
  })

  it.skipIf(!isInstalled('systemd-analyze'))('systemd-analyze verify accepts the unit', () => {
    const unit = join(temporaryFolder(), 'svc.service')
    // The programs of the unit are not installed here; that they can be run is all that it would miss.
    const text = read(UNIT)
      .replace('/usr/local/bin/svc', process.execPath)
      .replace('/usr/bin/curl', process.execPath)
      .replace('/bin/kill', process.execPath)
    writeFileSync(unit, text)
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', unit], { encoding: 'utf8' })
    expect([status, stderr]).toEqual([0, ''])
    const security = spawnSync('systemd-analyze', ['security', '--offline=true', '--threshold=25', unit], {
      encoding: 'utf8',
    })
    expect([security.status, security.stdout.split('\n').at(-2)]).toEqual([0, expect.stringContaining('OK')])
  })

  it.skipIf(!isInstalled('nginx') || !isInstalled('openssl'))('nginx -t accepts the site', () => {
    const folder = temporaryFolder()
    const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')]
    const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=svc.example.com', '-days', '1']
    spawnSync('openssl', [...made, '-keyout', key, '-out', certificate])
    const site = read(NGINX)
      .replace(/ssl_certificate .*;/, `ssl_certificate ${certificate};`)
      .replace(/ssl_certificate_key .*;/, `ssl_certificate_key ${key};`)
      .replace('/var/log/nginx/svc.log', join(folder, 'access.log'))
      .replace(/listen (\[::\]:)?(80|443)/g, (_, v6 = '', port) => `listen ${v6}${18_000 + Number(port)}`)
    writeFileSync(join(folder, 'svc.conf'), site)
    mkdirSync(join(folder, 'logs'))
    const whole = `pid ${folder}/pid;\nerror_log stderr;\nevents {}\nhttp {\n  include ${folder}/svc.conf;\n}\n`
    writeFileSync(join(folder, 'nginx.conf'), whole)
    const { status, stderr } = spawnSync('nginx', ['-t', '-p', folder, '-c', join(folder, 'nginx.conf')], {
      encoding: 'utf8',
    })
    expect([status, stderr]).toEqual([0, expect.stringContaining('test is successful')])
  })

  it.skipIf(!isInstalled('caddy'))('caddy validate accepts the site', () => {
    const args = ['validate', '--adapter', 'caddyfile', '--config', join(ROOT, CADDY)]
    const { status, stdout, stderr } = spawnSync('caddy', args, {
      encoding: 'utf8',
      env: { ...process.env, HOME: temporaryFolder() },
    })
    expect([status, stdout + stderr]).toEqual([0, expect.stringContaining('Valid configuration')])
  })
})
