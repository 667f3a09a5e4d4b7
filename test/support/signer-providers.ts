/** Turnkey, Privy and AWS KMS as their APIs are documented, each checking every request it is sent. */
import { createECDH, createHash, createHmac, createPublicKey, verify } from 'node:crypto'
import { mapped } from './mapped.ts'
import { type ProviderServer, type SeenRequest, type TestKey, testKey } from './signer-keys.ts'
import { startProvider } from './signer-provider.ts'
import { startVault } from './vault-server.ts'

export interface TestProvider extends ProviderServer {
  key: TestKey
  settings: Record<string, string>
  /** What must never be seen in anything that is said. */
  secrets: string[]
}

export async function startTestVault(key = testKey()): Promise<TestProvider> {
  const vault = await startVault({ key })
  return { ...vault, secrets: [vault.token] }
}

export async function startTurnkey(key = testKey(), status = 'ACTIVITY_STATUS_COMPLETED'): Promise<TestProvider> {
  const api = createECDH('prime256v1')
  api.generateKeys()
  const apiPublicKey = api.getPublicKey('hex', 'compressed')
  const organizationId = '7a1f2c9e-0000-4000-8000-000000000001'
  const keyId = '7a1f2c9e-0000-4000-8000-000000000002'

  function stamped({ headers, body }: SeenRequest): boolean {
    const stamp = JSON.parse(Buffer.from(String(headers['x-stamp']), 'base64url').toString()) as Record<string, string>
    if (stamp.scheme !== 'SIGNATURE_SCHEME_TK_API_P256' || stamp.publicKey !== apiPublicKey) return false
    const point = api.getPublicKey()
    const [x, y] = mapped([point.subarray(1, 33), point.subarray(33)], (half) => half.toString('base64url'))
    const verifier = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' })
    return verify('sha256', Buffer.from(body), verifier, Buffer.from(stamp.signature ?? '', 'hex'))
  }

  const server = await startProvider({
    key,
    read(request) {
      if (request.headers['x-stamp'] === undefined || !stamped(request)) return { status: 401, body: { code: 16 } }
      const { organizationId: asked } = JSON.parse(request.body) as { organizationId: string }
      if (asked !== organizationId) return { status: 404, body: { code: 5 } }
      if (request.path === '/public/v1/query/whoami') return { body: { organizationId, organizationName: 'launches' } }
      return request.path === '/public/v1/submit/sign_raw_payload' ? undefined : { status: 404, body: { code: 5 } }
    },
    message({ method, body }) {
      const { type, timestampMs, parameters } = JSON.parse(body) as Record<string, unknown>
      const { encoding, hashFunction, payload, signWith } = parameters as Record<string, string>
      if (method !== 'POST' || type !== 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2') throw new Error('wrong activity')
      if (typeof timestampMs !== 'string') throw new Error('no timestamp')
      if (encoding !== 'PAYLOAD_ENCODING_HEXADECIMAL' || hashFunction !== 'HASH_FUNCTION_NOT_APPLICABLE')
        throw new Error('not the raw bytes')
      if (signWith !== keyId) throw new Error('wrong key')
      return Buffer.from(payload ?? '', 'hex')
    },
    signed(signature) {
      const done = signature !== undefined && status === 'ACTIVITY_STATUS_COMPLETED'
      const [r, s] = [signature?.toString('hex', 0, 32), signature?.toString('hex', 32)]
      return { activity: { id: 'a', status, result: done ? { signRawPayloadResult: { r, s, v: '00' } } : {} } }
    },
  })
  const apiPrivateKey = api.getPrivateKey('hex').padStart(64, '0')
  const settings = {
    signer: 'turnkey',
    'signer.turnkey-url': server.url,
    'signer.turnkey-organization': organizationId,
    'signer.turnkey-key': keyId,
    'signer.turnkey-api-public-key': apiPublicKey,
    'signer.turnkey-api-private-key': apiPrivateKey,
    'signer.public-key': key.address,
  }
  return { ...server, key, settings, secrets: [apiPrivateKey] }
}

export async function startPrivy(key = testKey()): Promise<TestProvider> {
  const [appId, appSecret, walletId] = ['app-1', 'PRIVYTOPSECRET', 'wallet1']
  const basic = Buffer.from(`${appId}:${appSecret}`).toString('base64')
  const server = await startProvider({
    key,
    read({ method, path, headers }) {
      if (headers.authorization !== `Basic ${basic}` || headers['privy-app-id'] !== appId)
        return { status: 401, body: { error: 'unauthorized' } }
      if (method === 'GET' && path === `/v1/wallets/${walletId}`)
        return { body: { id: walletId, address: key.address, chain_type: 'solana' } }
      return method === 'POST' && path === `/v1/wallets/${walletId}/rpc` ? undefined : { status: 404, body: {} }
    },
    message({ body }) {
      const { method, params } = JSON.parse(body) as { method: string; params: { encoding: string; message: string } }
      if (method !== 'signMessage' || params.encoding !== 'base64') throw new Error('wrong method')
      return Buffer.from(params.message, 'base64')
    },
    signed: (signature) => ({
      method: 'signMessage',
      data: { encoding: 'base64', ...(signature && { signature: signature.toString('base64') }) },
    }),
  })
  const settings = {
    signer: 'privy',
    'signer.privy-url': `${server.url}/v1`,
    'signer.privy-app': appId,
    'signer.privy-secret': appSecret,
    'signer.privy-wallet': walletId,
    'signer.public-key': key.address,
  }
  return { ...server, key, settings, secrets: [appSecret, basic] }
}

/** Its address is not a setting: whoever uses it sets AWS_ENDPOINT_URL_KMS to its `url`. */
export async function startKms(key = testKey()): Promise<TestProvider> {
  const [accessKey, secretKey, region] = ['AKIATEST', 'AWSTOPSECRET/key+1', 'eu-central-1']
  const keyId = '1234abcd-12ab-34cd-56ef-1234567890ab'
  const target = ({ headers }: SeenRequest) => headers['x-amz-target']
  const server = await startProvider({
    key,
    read(request) {
      if (!signedByAws(request, { accessKey, secretKey, region }))
        return { status: 400, body: { __type: 'InvalidSignatureException', message: 'signature mismatch' } }
      const { KeyId } = JSON.parse(request.body) as { KeyId: string }
      if (KeyId !== keyId) return { status: 400, body: { __type: 'NotFoundException', message: 'no such key' } }
      if (target(request) !== 'TrentService.DescribeKey') return undefined
      const KeyMetadata = { KeyId, KeySpec: 'ECC_NIST_EDWARDS25519', KeyUsage: 'SIGN_VERIFY', KeyState: 'Enabled' }
      return { body: { KeyMetadata } }
    },
    message(request) {
      const { Message, MessageType, SigningAlgorithm } = JSON.parse(request.body) as Record<string, string>
      if (target(request) !== 'TrentService.Sign') throw new Error('wrong target')
      if (request.headers['content-type'] !== 'application/x-amz-json-1.1') throw new Error('wrong content type')
      if (MessageType !== 'RAW' || SigningAlgorithm !== 'ED25519_SHA_512') throw new Error('not the raw bytes')
      const bytes = Buffer.from(Message ?? '', 'base64')
      // KMS API reference, Sign: "You can submit messages of up to 4096 bytes."
      if (bytes.length > 4_096) throw new Error('too long for KMS')
      return bytes
    },
    signed: (signature) => ({
      KeyId: keyId,
      SigningAlgorithm: 'ED25519_SHA_512',
      ...(signature && { Signature: signature.toString('base64') }),
    }),
  })
  const settings = {
    signer: 'aws-kms',
    'signer.aws-key': keyId,
    'signer.aws-region': region,
    'signer.aws-access-key': accessKey,
    'signer.aws-secret-key': secretKey,
    'signer.public-key': key.address,
  }
  return { ...server, key, settings, secrets: [secretKey] }
}

/** Signature Version 4, worked out again from the request as it arrived. */
function signedByAws(
  { method, path, headers, body }: SeenRequest,
  { accessKey, secretKey, region }: { accessKey: string; secretKey: string; region: string },
): boolean {
  const [, credential, names, signature] =
    /^AWS4-HMAC-SHA256 Credential=([^,]+), SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? '',
    ) ?? []
  const date = String(headers['x-amz-date'])
  const scope = `${date.slice(0, 8)}/${region}/kms/aws4_request`
  if (credential !== `${accessKey}/${scope}` || names === undefined) return false
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
  const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()
  const signedHeaders = names.split(';').map((name) => `${name}:${String(headers[name]).trim()}\n`)
  const canonical = [method, path, '', signedHeaders.join(''), names, sha256(body)].join('\n')
  const key = [date.slice(0, 8), region, 'kms', 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${secretKey}`)
  const text = ['AWS4-HMAC-SHA256', date, scope, sha256(canonical)].join('\n')
  return hmac(key, text).toString('hex') === signature
}
