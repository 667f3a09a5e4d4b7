/** Settings of token images and metadata, and their moderation. */
import { define } from '../setting.ts'

export const storageSettings = define({
  storage: {
    kind: 'string',
    default: 'local',
    choices: ['local', 'database', 's3'],
    about:
      'Where token images and metadata are kept: local (a folder of this daemon), database (for several daemons on one PostgreSQL) or s3 (a bucket, for any number of daemons)',
    project: true,
  },
  's3.endpoint': {
    kind: 'string',
    urlOr: [],
    private: true,
    about: 'Address of the S3-compatible server (default: that of AWS in `s3.region`); a private one is fine',
    project: 'images are sent there',
  },
  's3.region': {
    kind: 'string',
    default: 'us-east-1',
    pattern: { is: /^[a-z0-9][a-z0-9-]{0,63}$/, about: 'a region like eu-central-1, or auto' },
    about: 'Region of the bucket; servers without regions take us-east-1, some want auto',
    project: 'images are sent there',
  },
  's3.bucket': {
    kind: 'string',
    pattern: { is: /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, about: '3 to 63 lower-case letters, digits, dots and dashes' },
    about: 'Bucket of token images and metadata; where it is set and `storage` is not s3, it is read from alone',
    project: 'images are sent there',
  },
  's3.prefix': {
    kind: 'string',
    pattern: {
      is: /^(?=.{1,256}$)(?!\.{1,2}(?:\/|$))[\w.-]+(?:\/(?!\.{1,2}(?:\/|$))[\w.-]+)*\/?$/,
      about: 'letters, digits, dots, dashes and underscores between slashes, with none in front',
    },
    about: 'Folder of the bucket, like svc/assets (default: its top level)',
    project: 'images are sent there',
  },
  's3.addressing-style': {
    kind: 'string',
    choices: ['path', 'virtual'],
    about:
      'Where requests name the bucket: path (https://host/bucket) or virtual (https://bucket.host); default: virtual at AWS, path where `s3.endpoint` is set',
    project: 'images are sent there',
  },
  's3.access-key-id': {
    kind: 'string',
    pattern: { is: /^[\x21-\x2b\x2d\x2e\x30-\x7e]{1,256}$/, about: 'one word without commas and slashes' },
    about: 'Access key id that may list, read and write the bucket',
    project: 'it says who uploads images',
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
    about: 'How long reading a piece of an image from the bucket, or storing one, may take with its retries',
    project: 'it says how the bucket is reached',
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
    pattern: { is: /^M[A-Za-z0-9+/]{91}=?$/, about: 'an ed25519 key as `storacha key create` prints it' },
    about: 'Key of the agent at Storacha that delegates uploads, as `storacha key create` prints it',
    project: 'it is a secret',
  },
  'storage-proof': {
    kind: 'string',
    secret: true,
    about: 'What that agent may do, as `storacha delegation create … --base64` prints it',
    project: 'it is a secret',
  },
  'storage-space': {
    kind: 'string',
    pattern: { is: /^did:key:z[1-9A-HJ-NP-Za-km-z]{20,900}$/, about: 'an identifier of the form did:key:z…' },
    about: 'Space at Storacha that uploads go to (default: the one of `storage-proof`)',
    project: 'uploads are sent there',
  },
  moderation: {
    kind: 'string',
    default: 'off',
    choices: ['off', 'openai'],
    about:
      'Who looks at token images before they are stored: off, or openai (any server with its moderations endpoint)',
    project: 'it says which images are stored',
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
    project: 'it says which images are stored',
  },
})
