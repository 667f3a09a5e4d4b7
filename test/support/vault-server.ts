/** The transit engine of HashiCorp Vault as far as signing needs it; as a process of its own it logs what it signs. */
import { appendFileSync } from 'node:fs'
import { type Misbehaviour, type ProviderServer, type SeenRequest, type TestKey, testKey } from './signer-keys.ts'
import { startProvider } from './signer-provider.ts'

export interface VaultServer extends ProviderServer {
  key: TestKey
  token: string
  keyName: string
  /** The settings that a service needs to sign here. */
  settings: Record<string, string>
}

export interface VaultOptions {
  key?: TestKey
  token?: string
  keyName?: string
  /** Version of the key: counts up when a key is rotated. */
  version?: number
  type?: string
  port?: number
  /** One line is added for each signature: the SHA-256 of its message in hex, then the milliseconds since 1970. */
  logFile?: string
}

export async function startVault(options: VaultOptions = {}): Promise<VaultServer> {
  const { key = testKey(), token = 'hvs.TOPSECRETTOKEN', keyName = 'launches', version = 1, type = 'ed25519' } = options
  const { logFile, port } = options

  function read({ method, path, headers }: SeenRequest) {
    if (headers['x-vault-token'] !== token) return { status: 403, body: { errors: ['permission denied'] } }
    if (method === 'POST' && path === `/v1/transit/sign/${keyName}`) return undefined
    if (method !== 'GET' || path !== `/v1/transit/keys/${keyName}`) return { status: 404, body: { errors: [] } }
    const made = { creation_time: '2026-01-01T00:00:00Z', name: type, public_key: key.publicKey.toString('base64') }
    return {
      body: { data: { type, supports_signing: true, latest_version: version, keys: { [String(version)]: made } } },
    }
  }

  const server = await startProvider({
    key,
    ...(port !== undefined && { port }),
    read,
    message({ body }) {
      const { input, prehashed } = JSON.parse(body) as { input: string; prehashed?: boolean }
      if (typeof input !== 'string' || prehashed) throw new Error('invalid input')
      return Buffer.from(input, 'base64')
    },
    signed: (signature) => ({
      request_id: 'a1',
      data: {
        key_version: version,
        ...(signature && { signature: `vault:v${version}:${signature.toString('base64')}` }),
      },
    }),
    onSigned: (hash) => logFile !== undefined && appendFileSync(logFile, `${hash} ${Date.now()}\n`),
  })
  const settings = {
    signer: 'vault',
    'signer.vault-url': server.url,
    'signer.vault-key': keyName,
    'signer.vault-token': token,
    'signer.public-key': key.address,
  }
  return { ...server, key, token, keyName, settings }
}

/** `tsx test/support/vault-server.ts LOG_FILE`: says its settings as one JSON line, then takes misbehaviours by IPC. */
if (process.argv[1]?.endsWith('vault-server.ts')) {
  const logFile = process.argv[2]
  const vault = await startVault(logFile === undefined ? {} : { logFile })
  process.stdout.write(`${JSON.stringify(vault.settings)}\n`)
  process.on('message', ({ misbehave, times }: { misbehave?: Misbehaviour; times?: number }) => {
    vault.misbehave(misbehave, times)
    process.send?.({ misbehaving: misbehave ?? null })
  })
  process.on('SIGTERM', () => process.exit(0))
}
