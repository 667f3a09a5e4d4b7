/** Signs with an ECC_NIST_EDWARDS25519 key of AWS KMS. */

import { Readable } from 'node:stream'
import { type Config, ConfigError } from '../../settings/config.ts'
import { currentProviderCall, sendProviderRequest } from './provider-requests.ts'
import type { KeychainSigner, RemoteProvider } from './remote-provider.ts'
import { requiredSetting } from './settings.ts'

/** An HTTP request and answer in the form of the AWS SDK. */
interface AwsRequest {
  protocol: string
  hostname: string
  port?: number
  path: string
  method: string
  headers: Record<string, string>
  body?: string | Uint8Array
}
interface AwsHandler {
  handle(
    request: AwsRequest,
    options?: unknown,
  ): Promise<{ response: { statusCode: number; headers: Record<string, string>; body: unknown } }>
}
interface AwsClient {
  config: { requestHandler: AwsHandler; retryStrategy: () => Promise<typeof NO_RETRIES> }
}

export function awsKmsProvider(config: Config, publicKey: string): RemoteProvider {
  const { values } = config
  const keyId = requiredSetting(config, 'signer.aws-key')
  const region = values['signer.aws-region']
  const accessKeyId = values['signer.aws-access-key']
  const secretAccessKey = values['signer.aws-secret-key']
  const sessionToken = values['signer.aws-session-token']
  if ((accessKeyId === undefined) !== (secretAccessKey === undefined)) {
    throw new ConfigError('signer.aws-access-key and signer.aws-secret-key must be set together, or neither of them')
  }
  const credentials =
    accessKeyId === undefined || secretAccessKey === undefined
      ? undefined
      : { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) }
  return {
    name: 'aws-kms',
    label: `AWS KMS${region === undefined ? '' : ` in ${region}`}`,
    where: 'signer.aws-region',
    async open() {
      const { AwsKmsSigner } = await import('@solana/keychain-aws-kms')
      const signer = new AwsKmsSigner({
        keyId,
        publicKey,
        ...(region !== undefined && { region }),
        ...(credentials !== undefined && { credentials }),
      })
      const { client } = signer as unknown as { client: AwsClient }
      client.config.retryStrategy = async () => NO_RETRIES
      client.config.requestHandler = boundedHandler(client.config.requestHandler)
      return signer as unknown as KeychainSigner
    },
    signs: (_, headers) => headers.get('x-amz-target') === 'TrentService.Sign',
    // A 503 of this name is sent after the key store was called.
    mayHaveSigned: (status, text) => status === 503 && text.includes('DependencyTimeout'),
    onStatus: (status) =>
      status === 400 || status === 403
        ? 'see signer.aws-key, the state of that key, and whether these credentials may kms:Sign and kms:DescribeKey'
        : 'see signer.aws-key',
    unusable:
      'signer.aws-key must be an enabled ECC_NIST_EDWARDS25519 key for SIGN_VERIFY, and a region and credentials must be set',
  }
}

/** By default the SDK repeats a failed request, even if something may have been signed. */
const NO_RETRIES = {
  acquireInitialRetryToken: async () => ({ getRetryCount: () => 0, getRetryDelay: () => 0 }),
  refreshRetryTokenForRetry: async () => {
    throw new Error('no retries')
  },
  recordSuccess() {},
}

/** Sends the requests of KMS within the limits of the call. The SDK's own handler waits for minutes. */
function boundedHandler(before: AwsHandler): AwsHandler {
  return {
    async handle(request, options) {
      // The client may also request credentials, which is not a request to KMS.
      if (!request.headers['x-amz-target']?.startsWith('TrentService.')) return before.handle(request, options)
      const { protocol, hostname, port, path, method, body } = request
      // `fetch` sets these two headers itself.
      const { host: _, 'content-length': __, ...headers } = request.headers
      const url = `${protocol}//${hostname}${port === undefined ? '' : `:${port}`}${path}`
      const answer = await sendProviderRequest(currentProviderCall(), url, {
        method,
        headers,
        ...(body !== undefined && { body }),
      })
      const text = Readable.from([Buffer.from(await answer.arrayBuffer())])
      return { response: { statusCode: answer.status, headers: Object.fromEntries(answer.headers), body: text } }
    },
  }
}
