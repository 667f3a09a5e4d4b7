/** Every setting as one table: its name, type, default and meaning. */

type Kind = 'string' | 'integer' | 'boolean' | 'list'

export interface Setting {
  kind: Kind
  default?: string | number | boolean | readonly string[]
  about: string
  /** Never printed; `svc config` refuses to write it into a file. */
  secret?: true
  /** An http or https URL, or one of these words. */
  urlOr?: readonly string[]
  /** A URL that may hold a key: printed as its host alone. */
  private?: true
  /** The only texts allowed. */
  choices?: readonly string[]
  /** What a text, or each of a list, must look like, and how that is said after "must be". */
  pattern?: { is: RegExp; about: string }
  min?: number
  max?: number
}

/** A name that goes into the path of a provider's URL. */
const PATH_PART = { is: /^\w[\w.-]{0,127}$/, about: 'letters, digits, dots, dashes and underscores' }

const define = <T extends Record<string, Setting>>(settings: T) => settings

export const SETTINGS = define({
  'data-dir': { kind: 'string', about: 'Data folder: database, keys, daemon.json (default: the XDG data folder)' },
  host: { kind: 'string', default: '127.0.0.1', about: 'Address that `svc serve` listens on' },
  port: { kind: 'integer', default: 8787, min: 0, max: 65535, about: 'Port that `svc serve` listens on; 0 takes any' },
  'database-url': { kind: 'string', secret: true, about: 'PostgreSQL URL; without one, SQLite in the data folder' },
  'encryption-key': { kind: 'string', secret: true, about: '32 bytes in base64 or hex; required with PostgreSQL' },
  'public-url': { kind: 'string', about: 'Public https address of this service, for links in its answers' },
  'body-limit-mib': {
    kind: 'integer',
    default: 16,
    min: 1,
    max: 1024,
    about: 'Largest body of a merkle tree, or of a pool with its image, in MiB',
  },
  'json-limit-kib': {
    kind: 'integer',
    default: 256,
    min: 64,
    max: 16_384,
    about: 'Largest body of any other request in KiB',
  },
  'header-timeout-seconds': {
    kind: 'integer',
    default: 20,
    min: 1,
    max: 60,
    about: 'How long a client may take to send the headers of a request',
  },
  'request-timeout-seconds': {
    kind: 'integer',
    default: 60,
    min: 1,
    max: 60,
    about: 'How long a client may take to send a request with its body',
  },
  'max-connections': {
    kind: 'integer',
    default: 1_024,
    min: 8,
    max: 65_535,
    about: 'Most connections at a time; further ones are closed at once',
  },
  'idempotency-hours': {
    kind: 'integer',
    default: 24,
    min: 1,
    max: 720,
    about: 'How long an Idempotency-Key is remembered',
  },
  'rate-per-minute': {
    kind: 'integer',
    default: 120,
    min: 1,
    max: 1_000_000_000,
    about: 'Requests a minute of a new key',
  },
  'rate-per-day': {
    kind: 'integer',
    default: 50_000,
    min: 1,
    max: 1_000_000_000,
    about: 'Requests a day of a new key',
  },
  'log-level': {
    kind: 'string',
    default: 'info',
    choices: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    about: 'fatal, error, warn, info, debug, trace or silent',
  },
  'webhooks.allow-private': {
    kind: 'boolean',
    default: false,
    about: 'Allow http and private addresses as webhook receivers (development only)',
  },
  'webhooks.ports': {
    kind: 'list',
    default: ['443', '8443'],
    about: 'Ports that webhook receivers may listen on; with webhooks.allow-private any port will do',
  },
  url: {
    kind: 'string',
    urlOr: ['embedded', 'mainnet-beta', 'm', 'devnet', 'd', 'testnet', 't', 'localhost', 'l'],
    private: true,
    about:
      'Cluster: embedded, mainnet-beta (m), devnet (d), testnet (t), localhost (l) or an RPC URL (default: what the Solana CLI is set to, else embedded)',
  },
  'public-rpc-url': { kind: 'string', urlOr: [], about: 'RPC URL that answers show to clients as `rpc_endpoint`' },
  'rpc-port': {
    kind: 'integer',
    default: 8899,
    min: 0,
    max: 65534,
    about: 'Port of the embedded chain (its WebSocket is on the next); 0 takes any',
  },
  'programs-dir': {
    kind: 'string',
    about: 'Program cache of the embedded chain (default: svc/programs in the XDG cache folder)',
  },
  'priority-fee': {
    kind: 'string',
    default: 'auto',
    // Nineteen digits always fit in the 64 bits of the instruction.
    pattern: { is: /^(?:auto|none|\d{1,19})$/, about: 'auto, none or micro-lamports per compute unit in digits' },
    about: 'Priority fee of built transactions: auto (from recent fees), none, or micro-lamports per compute unit',
  },
  'priority-fee-cap': {
    kind: 'integer',
    default: 1_000_000,
    min: 0,
    about: 'Most lamports of priority fee for one transaction',
  },
  'relay-url': {
    kind: 'string',
    urlOr: [],
    private: true,
    about: 'Jito block engine that bundles go to; the embedded chain has its own',
  },
  'metadata-url': {
    kind: 'string',
    urlOr: [],
    private: true,
    about: 'DAS provider (getAsset) that token metadata is read from',
  },
  signer: {
    kind: 'string',
    default: 'none',
    choices: ['none', 'keypair', 'vault', 'turnkey', 'privy', 'aws-kms'],
    about: 'Who signs for the service: none, keypair, vault, turnkey, privy or aws-kms',
  },
  'signer.cluster': {
    kind: 'string',
    default: 'any',
    choices: ['any', 'embedded', 'mainnet-beta', 'devnet', 'testnet'],
    about: 'The one cluster that the signer signs for: any, embedded, mainnet-beta, devnet or testnet',
  },
  'signer.public-key': {
    kind: 'string',
    // No more than an address is taken, nor said: a secret key in base58 is twice as long.
    pattern: { is: /^[1-9A-HJ-NP-Za-km-z]{32,44}$/, about: 'a base58 address' },
    about: "The signer's address; with `keypair` it may be left out",
  },
  'signer.keypair': {
    kind: 'string',
    pattern: {
      is: /^(?!\s*\[)(?![1-9A-HJ-NP-Za-km-z]{80,}$)[^\0]+$/,
      about: 'the path of a keypair file, never the key itself',
    },
    about: 'Keypair file (0600) as `solana-keygen new` writes it, for `keypair`',
  },
  'signer.vault-url': { kind: 'string', urlOr: [], private: true, about: 'Address of HashiCorp Vault' },
  'signer.vault-key': {
    kind: 'string',
    pattern: PATH_PART,
    about: 'Name of the ed25519 key in the transit engine of Vault, mounted at `transit`',
  },
  'signer.vault-token': { kind: 'string', secret: true, about: 'Token of Vault that may sign with the key' },
  'signer.turnkey-organization': { kind: 'string', about: 'Organization id at Turnkey' },
  'signer.turnkey-key': { kind: 'string', about: 'Private key id, or the address of a wallet account, at Turnkey' },
  'signer.turnkey-api-public-key': {
    kind: 'string',
    pattern: { is: /^0[23][0-9a-fA-F]{64}$/, about: 'a compressed P-256 public key: 66 hex digits' },
    about: 'Public half of the API key at Turnkey, in hex',
  },
  'signer.turnkey-api-private-key': {
    kind: 'string',
    secret: true,
    pattern: { is: /^[0-9a-fA-F]{64}$/, about: '64 hex digits' },
    about: 'Private half of the API key at Turnkey, in hex',
  },
  'signer.turnkey-url': {
    kind: 'string',
    default: 'https://api.turnkey.com',
    urlOr: [],
    private: true,
    about: 'Address of the API of Turnkey',
  },
  'signer.privy-app': { kind: 'string', about: 'App id at Privy' },
  'signer.privy-secret': { kind: 'string', secret: true, about: 'App secret at Privy' },
  'signer.privy-wallet': { kind: 'string', pattern: PATH_PART, about: 'Wallet id at Privy' },
  'signer.privy-url': {
    kind: 'string',
    default: 'https://api.privy.io/v1',
    urlOr: [],
    private: true,
    about: 'Address of the API of Privy',
  },
  'signer.aws-key': { kind: 'string', about: 'Id or ARN of the ECC_NIST_EDWARDS25519 key in AWS KMS' },
  'signer.aws-region': { kind: 'string', about: 'Region of the key (default: what the AWS tools are set to)' },
  'signer.aws-access-key': {
    kind: 'string',
    about: 'AWS access key id (default: the credentials that the AWS tools find)',
  },
  'signer.aws-secret-key': { kind: 'string', secret: true, about: 'Secret of the AWS access key' },
  'signer.aws-session-token': { kind: 'string', secret: true, about: 'Session token of a temporary AWS access key' },
  'platform-wallet': {
    kind: 'string',
    pattern: { is: /^[1-9A-HJ-NP-Za-km-z]{32,44}$/, about: 'a base58 address' },
    about: 'Address that fees of pools belong to (default: the signer)',
  },
  'pools.presets': { kind: 'string', about: 'JSON file with named curves beside the built-in `standard`' },
  'pools.preset': { kind: 'string', default: 'standard', about: 'Curve of a pool whose creation names none' },
  'pools.pending-minutes': {
    kind: 'integer',
    default: 30,
    min: 1,
    max: 10_080,
    about: 'How long after its last transaction ended a pool that is not on chain counts as failed',
  },
  'pools.ticker-cooldown-hours': {
    kind: 'integer',
    default: 24,
    min: 0,
    max: 8_760,
    about: 'How long a ticker stays taken by a pool that did not fail; 0 lets any pool have it',
  },
  'pools.crank': {
    kind: 'boolean',
    default: false,
    about: 'Let the platform wallet send the migration transactions of full curves',
  },
  'gold.mint': {
    kind: 'string',
    pattern: { is: /^[1-9A-HJ-NP-Za-km-z]{32,44}$/, about: 'a base58 address' },
    about: 'Mint of the gold token that wallets can lock',
  },
  'nfts.cosign-collections': {
    kind: 'list',
    default: [],
    pattern: { is: /^[1-9A-HJ-NP-Za-km-z]{32,44}$/, about: 'base58 addresses' },
    about: 'Collections whose mints the platform wallet signs too, as their update authority or delegate',
  },
  'stakes.freeze-authority': {
    kind: 'string',
    default: 'owner',
    choices: ['owner', 'platform'],
    about:
      'Who can release a stake: its owner, or platform: the owner and the platform wallet together (its key must never be lost)',
  },
  'relay-tip': {
    kind: 'integer',
    default: 10_000,
    min: 0,
    max: 100_000_000,
    about: 'Lamports that the last transaction of a launch pays the relay, where relay-url is set',
  },
  'price-url': {
    kind: 'string',
    urlOr: [],
    private: true,
    about: 'URL of a JSON document with the price of SOL in US dollars',
  },
  'price-field': {
    kind: 'string',
    default: 'price',
    about: 'Where the price stands in that document, like data.SOL.usd',
  },
  storage: {
    kind: 'string',
    default: 'local',
    choices: ['local'],
    about: 'Where token images and metadata are kept: local (a folder that this service serves)',
  },
  'image-max-bytes': {
    kind: 'integer',
    default: 5_242_880,
    min: 1,
    max: 104_857_600,
    about: 'Largest token image in bytes',
  },
  'storage-key': {
    kind: 'string',
    secret: true,
    pattern: { is: /^M[A-Za-z0-9+/]{91}=?$/, about: 'an ed25519 key as `storacha key create` prints it' },
    about: 'Key of the agent at Storacha that delegates uploads, as `storacha key create` prints it',
  },
  'storage-proof': {
    kind: 'string',
    secret: true,
    about: 'What that agent may do, as `storacha delegation create … --base64` prints it',
  },
  'storage-space': {
    kind: 'string',
    pattern: { is: /^did:key:z[1-9A-HJ-NP-Za-km-z]{20,900}$/, about: 'an identifier of the form did:key:z…' },
    about: 'Space at Storacha that uploads go to (default: the one of `storage-proof`)',
  },
  moderation: {
    kind: 'string',
    default: 'off',
    choices: ['off', 'openai'],
    about:
      'Who looks at token images before they are stored: off, or openai (any server with its moderations endpoint)',
  },
  'moderation-url': {
    kind: 'string',
    default: 'https://api.openai.com/v1',
    urlOr: [],
    private: true,
    about: 'Address of the moderation API, without `/moderations`',
  },
  'moderation-key': { kind: 'string', secret: true, about: 'Key of the moderation API' },
  'moderation-model': { kind: 'string', default: 'omni-moderation-latest', about: 'Model that moderates' },
  api: { kind: 'string', about: 'URL of the daemon that commands talk to (default: the running local one, else none)' },
  'api-key-file': { kind: 'string', about: 'File (0600) with the bearer key for `api`' },
  output: {
    kind: 'string',
    default: 'table',
    choices: ['table', 'json', 'plain'],
    about: 'How answers are printed: table, json or plain',
  },
})

export type SettingName = keyof typeof SETTINGS
interface Kinds {
  string: string
  integer: number
  boolean: boolean
  list: string[]
}
type Value<S extends { kind: Kind }> = Kinds[S['kind']]
export type Values = {
  [N in SettingName]:
    | Value<(typeof SETTINGS)[N]>
    | ((typeof SETTINGS)[N] extends { default: unknown } ? never : undefined)
}
