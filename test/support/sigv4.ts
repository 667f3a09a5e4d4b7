/** Verifies AWS Signature Version 4 of a request by the specification, apart from the library that the product signs with. */
import { createHash, createHmac } from 'node:crypto'

export interface SentRequest {
  method: string
  /** Path and query as they were sent. */
  url: string
  /** In lower case. */
  headers: Record<string, string | undefined>
  body: Uint8Array
}

export interface SigningKey {
  accessKeyId: string
  secretAccessKey: string
  sessionToken?: string
  region: string
}

/** The error code that S3 answers to this request; null where its signature is right. */
export function signatureFault(request: SentRequest, key: SigningKey, now = Date.now()): string | null {
  const { headers, body } = request
  const authorization = headers.authorization
  if (authorization === undefined) return 'AccessDenied'
  const parts =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})$/.exec(
      authorization,
    )
  if (parts === null) return 'AuthorizationHeaderMalformed'
  const [, id, day = '', region = '', signedNames = '', signature] = parts
  if (id !== key.accessKeyId) return 'InvalidAccessKeyId'
  if (region !== key.region) return 'AuthorizationHeaderMalformed'
  if (headers['x-amz-security-token'] !== key.sessionToken) return 'InvalidToken'
  const date = headers['x-amz-date'] ?? ''
  const at = Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'))
  if (Number.isNaN(at) || !date.startsWith(day)) return 'AccessDenied'
  if (Math.abs(now - at) > 15 * 60_000) return 'RequestTimeTooSkewed'
  const names = signedNames.split(';')
  const mustBeSigned = ['host', ...Object.keys(headers).filter((name) => name.startsWith('x-amz-'))]
  if (mustBeSigned.some((name) => !names.includes(name))) return 'AccessDenied'
  if (names.join(';') !== [...names].sort().join(';')) return 'AuthorizationHeaderMalformed'
  const payload = headers['x-amz-content-sha256'] ?? ''
  if (payload !== sha256(body)) return 'XAmzContentSHA256Mismatch'
  const scope = `${day}/${region}/s3/aws4_request`
  const text = ['AWS4-HMAC-SHA256', date, scope, sha256(canonicalRequest(request, names, payload))].join('\n')
  const signingKey = [day, region, 's3', 'aws4_request'].reduce<string | Buffer>(
    (secret, part) => createHmac('sha256', secret).update(part).digest(),
    `AWS4${key.secretAccessKey}`,
  )
  const expected = createHmac('sha256', signingKey).update(text).digest('hex')
  return expected === signature ? null : 'SignatureDoesNotMatch'
}

/** The form that is signed: method, path, query, headers, their names, and the hash of the body. */
function canonicalRequest({ method, url, headers }: SentRequest, names: readonly string[], payload: string): string {
  const at = url.indexOf('?')
  const [path, query] = at < 0 ? [url, ''] : [url.slice(0, at), url.slice(at + 1)]
  const pairs = query
    .split('&')
    .filter(Boolean)
    .map((pair) => {
      const [name = '', value = ''] = pair.split('=')
      return `${encoded(name)}=${encoded(value)}`
    })
  return [
    method,
    path.split('/').map(encoded).join('/'),
    pairs.sort().join('&'),
    ...names.map((name) => `${name}:${(headers[name] ?? '').trim().replace(/ +/g, ' ')}`),
    '',
    names.join(';'),
    payload,
  ].join('\n')
}

/** Everything but unreserved characters as %XX (RFC 3986, 2.3), whichever way it was sent. */
const encoded = (text: string) =>
  encodeURIComponent(decodeURIComponent(text)).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )

const sha256 = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest('hex')
