/** Settings of token images and metadata, and their moderation. */
import { define } from '../setting.ts'

export const storageSettings = define({
  storage: {
    kind: 'string',
    default: 'local',
    choices: ['local', 'database', 's3'],
    about:
      'Where token images and metadata are stored: local (a folder of this daemon), database (for several daemons on one PostgreSQL) or s3 (a bucket, for any number of daemons)',
    project: true,
  },
  's3.endpoint': {
    kind: 'string',
    urlOr: [],
    private: true,
    about: 'Address of the S3-compatible server (default: AWS in `s3.region`); a private address is allowed',
    project: 'images are sent there',
  },
  's3.region': {
    kind: 'string',
    default: 'us-east-1',
    pattern: { is: /^[a-z0-9][a-z0-9-]{0,63}$/, about: 'a region like eu-central-1, or auto' },
    about: 'Region of the bucket; servers without regions accept us-east-1, some require auto',
    project: 'images are sent there',
  },
  's3.bucket': {
    kind: 'string',
    pattern: { is: /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, about: '3 to 63 lower-case letters, digits, dots and dashes' },
    about: 'Bucket of token images and metadata; if `storage` is not s3, it is only read from',
    project: 'images are sent there',
  },
  's3.prefix': {
    kind: 'string',
    pattern: {
      is: /^(?=.{1,256}$)(?!\.{1,2}(?:\/|$))[\w.-]+(?:\/(?!\.{1,2}(?:\/|$))[\w.-]+)*\/?$/,
      about: 'letters, digits, dots, dashes and underscores between slashes, without a slash at the start',
    },
    about: 'Folder of the bucket, like svc/assets (default: its top level)',
    project: 'images are sent there',
  },
  's3.addressing-style': {
    kind: 'string',
    choices: ['path', 'virtual'],
    about:
      'Where the bucket is in the URL: path (https://host/bucket) or virtual (https://bucket.host); default: virtual for AWS, path if `s3.endpoint` is set',
    project: 'images are sent there',
  },
  's3.access-key-id': {
    kind: 'string',
    pattern: { is: /^[\x21-\x2b\x2d\x2e\x30-\x7e]{1,256}$/, about: 'one word without commas and slashes' },
    about: 'Access key id that may list, read and write the bucket',
    project: 'it decides who uploads images',
  },
  's3.secret-access-key': {
    kind: 'string',
    secret: true,
    pattern: { is: /^[\x21-\x7e]+$/, about: 'one word' },
    about: 'Secret of that access key',
    project: 'it is a secret',
  },
  's3.session-token': {
    kind: 'string',
    secret: true,
    pattern: { is: /^[\x21-\x7e]+$/, about: 'one word' },
    about: 'Session token of a temporary access key',
    project: 'it is a secret',
  },
  's3.timeout-ms': {
    kind: 'integer',
    default: 15_000,
    min: 100,
    max: 300_000,
    about: 'How long one read or write of a piece of an image in the bucket may take, including retries',
    project: 'it decides how the bucket is reached',
  },
  'image-max-bytes': {
    kind: 'integer',
    default: 5_242_880,
    min: 1,
    max: 104_857_600,
    about: 'Largest token image in bytes',
    project: true,
    reload: true,
  },
  'storage-key': {
    kind: 'string',
    secret: true,
    pattern: { is: /^M[A-Za-z0-9+/]{91}=?$/, about: 'an ed25519 key as printed by `storacha key create`' },
    about: 'Key of the Storacha agent that delegates uploads, as printed by `storacha key create`',
    project: 'it is a secret',
  },
  'storage-proof': {
    kind: 'string',
    secret: true,
    about: 'Proof of what that agent may do, as printed by `storacha delegation create … --base64`',
    project: 'it is a secret',
  },
  'storage-space': {
    kind: 'string',
    pattern: { is: /^did:key:z[1-9A-HJ-NP-Za-km-z]{20,900}$/, about: 'an identifier of the form did:key:z…' },
    about: 'Storacha space that receives uploads (default: the one in `storage-proof`)',
    project: 'uploads are sent there',
  },
  moderation: {
    kind: 'string',
    default: 'off',
    choices: ['off', 'openai'],
    about:
      'Who checks token images before they are stored: off, or openai (any server with the same moderations endpoint)',
    project: 'it decides which images are stored',
  },
  'moderation-url': {
    kind: 'string',
    default: 'https://api.openai.com/v1',
    urlOr: [],
    private: true,
    about: 'Address of the moderation API, without `/moderations`',
    project: 'its key is sent there',
  },
  'moderation-key': { kind: 'string', secret: true, about: 'Key of the moderation API', project: 'it is a secret' },
  'moderation-model': {
    kind: 'string',
    default: 'omni-moderation-latest',
    about: 'Model that moderates',
    project: 'it decides which images are stored',
  },
})
