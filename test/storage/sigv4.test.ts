/** The tests' own verification of signatures, held against the examples that AWS publishes for S3. */
import { describe, expect, it } from 'vitest'
import { type SentRequest, signatureFault } from '../support/sigv4.ts'

const KEY = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  region: 'us-east-1',
}
const NOW = Date.UTC(2013, 4, 24)
const EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

/** "Signature Calculations for the Authorization Header: Transferring Payload in a Single Chunk", Amazon S3 API reference. */
const EXAMPLES: [title: string, request: Omit<SentRequest, 'body'>, body: string, names: string, signature: string][] =
  [
    [
      'GET of a range',
      { method: 'GET', url: '/test.txt', headers: { range: 'bytes=0-9', 'x-amz-content-sha256': EMPTY } },
      '',
      'host;range;x-amz-content-sha256;x-amz-date',
      'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
    ],
    [
      'PUT',
      {
        method: 'PUT',
        url: '/test%24file.text',
        headers: {
          date: 'Fri, 24 May 2013 00:00:00 GMT',
          'x-amz-content-sha256': '44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072',
          'x-amz-storage-class': 'REDUCED_REDUNDANCY',
        },
      },
      'Welcome to Amazon S3.',
      'date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class',
      '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
    ],
    [
      'GET of a subresource',
      { method: 'GET', url: '/?lifecycle', headers: { 'x-amz-content-sha256': EMPTY } },
      '',
      'host;x-amz-content-sha256;x-amz-date',
      'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
    ],
    [
      'GET of a list',
      { method: 'GET', url: '/?max-keys=2&prefix=J', headers: { 'x-amz-content-sha256': EMPTY } },
      '',
      'host;x-amz-content-sha256;x-amz-date',
      '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
    ],
  ]

describe.each(EXAMPLES)('the published example %s', (_, request, body, names, signature) => {
  const signed = (more: Record<string, string> = {}): SentRequest => ({
    ...request,
    body: Buffer.from(body),
    headers: {
      host: 'examplebucket.s3.amazonaws.com',
      'x-amz-date': '20130524T000000Z',
      ...request.headers,
      authorization: `AWS4-HMAC-SHA256 Credential=${KEY.accessKeyId}/20130524/us-east-1/s3/aws4_request,SignedHeaders=${names},Signature=${signature}`,
      ...more,
    },
  })

  it('is accepted, and anything that differs is not', () => {
    expect(signatureFault(signed(), KEY, NOW)).toBeNull()
    expect(signatureFault(signed(), { ...KEY, secretAccessKey: 'another' }, NOW)).toBe('SignatureDoesNotMatch')
    expect(signatureFault(signed(), { ...KEY, accessKeyId: 'another' }, NOW)).toBe('InvalidAccessKeyId')
    expect(signatureFault(signed(), { ...KEY, region: 'eu-west-1' }, NOW)).toBe('AuthorizationHeaderMalformed')
    expect(signatureFault(signed(), KEY, NOW + 16 * 60_000)).toBe('RequestTimeTooSkewed')
    expect(signatureFault(signed({ host: 'other.s3.amazonaws.com' }), KEY, NOW)).toBe('SignatureDoesNotMatch')
    expect(signatureFault({ ...signed(), url: '/other' }, KEY, NOW)).toBe('SignatureDoesNotMatch')
    expect(signatureFault({ ...signed(), body: Buffer.from('x') }, KEY, NOW)).toBe('XAmzContentSHA256Mismatch')
    expect(signatureFault(signed({ 'x-amz-acl': 'public-read' }), KEY, NOW)).toBe('AccessDenied')
    expect(signatureFault(signed({ 'x-amz-security-token': 'a' }), KEY, NOW)).toBe('InvalidToken')
  })
})
