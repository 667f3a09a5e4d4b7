/** Table of all settings with their names, types, defaults and meanings. */

type Kind = 'string' | 'integer' | 'boolean' | 'list' | 'endpoints'

/** One of several RPC endpoints. */
export interface RpcEndpoint {
  /** It may hold a key, like the headers, and is never shown. */
  url: string
  /** Share of the requests, relative to the other endpoints. */
  weight: number
  headers: Readonly<Record<string, string>>
}

export interface Setting {
  kind: Kind
  default?: string | number | boolean | readonly string[]
  about: string
  /** Marks a secret that is never printed and that `svc config` refuses to write into a file. */
  secret?: true
  /** Accepts an http or https URL, or one of these words. */
  urlOr?: readonly string[]
  /** Marks a URL that may contain a key; only its host is printed. */
  private?: true
  /** The only allowed values. */
  choices?: readonly string[]
  /** Pattern of a text or of each list item; `about` is its description after "must be". */
  pattern?: { is: RegExp; about: string }
  min?: number
  max?: number
  /**
   * True when a folder's svc.json may set it; otherwise the reason for the refusal. Any cloned repository can contain a
   * svc.json.
   */
  project: true | string
  /** A running daemon takes the new value at SIGHUP: it is read where it is used, and nothing is kept of the old one. */
  reload?: true
  /** Reason why svc.json may use only the words of `urlOr` for this setting. */
  projectChoicesReason?: string
}

/** A name that becomes part of the path of a provider's URL. */
const PATH_PART = { is: /^\w[\w.-]{0,127}$/, about: 'letters, digits, dots, dashes and underscores' }

/** A file's name; the content of a certificate or key, pasted by mistake, is rejected and never printed. */
const FILE_PATH = { is: /^(?!.*-----BEGIN)[^\0\n]+$/s, about: 'the path of a file, never its content' }

const define = <T extends Record<string, Setting>>(settings: T) => settings

export const SETTINGS = define({
  'data-dir': {
    kind: 'string',
    about: 'Data folder: database, keys, daemon.json (default: the XDG data folder)',
    project: 'keys and the database are taken from there',
  },
  host: {
    kind: 'string',
    default: '127.0.0.1',
    about: 'Address that `svc serve` listens on',
    project: 'it says who can reach this machine',
  },
  port: {
    kind: 'integer',
    default: 8787,
    min: 0,
    max: 65535,
    about: 'Port that `svc serve` listens on; 0 takes any',
    project: true,
  },
  role: {
    kind: 'string',
    default: 'all',
    choices: ['api', 'worker', 'all'],
    about: 'What `svc serve` does: api (requests), worker (background work) or all; api and worker need PostgreSQL',
    project: 'it says which work this machine does',
  },
  'database-url': {
    kind: 'string',
    secret: true,
    about: 'PostgreSQL URL, or sqlite; without one, SQLite in the data folder',
    project: 'it is a secret',
  },
  'postgres.pool-size': {
    kind: 'integer',
    default: 16,
    min: 4,
    max: 1_000,
    about: 'Most connections of a process to PostgreSQL; a daemon that runs workers has one more, to be woken',
    project: 'it says how the database is reached',
  },
  'postgres.pool-timeout-ms': {
    kind: 'integer',
    default: 3_000,
    min: 10,
    max: 60_000,
    about: 'How long a request waits for a free connection before it is refused with `Retry-After`',
    project: 'it says how the database is reached',
  },
  'postgres.connect-timeout-ms': {
    kind: 'integer',
    default: 5_000,
    min: 100,
    max: 60_000,
    about: 'How long making a connection to PostgreSQL may take',
    project: 'it says how the database is reached',
  },
  'postgres.lock-timeout-ms': {
    kind: 'integer',
    default: 2_000,
    min: 100,
    max: 600_000,
    about: 'How long a statement waits for a lock (lock_timeout)',
    project: 'it says how the database is reached',
  },
  'postgres.statement-timeout-ms': {
    kind: 'integer',
    default: 10_000,
    min: 100,
    max: 600_000,
    about: 'How long a statement may take (statement_timeout)',
    project: 'it says how the database is reached',
  },
  'postgres.transaction-timeout-ms': {
    kind: 'integer',
    default: 15_000,
    min: 100,
    max: 600_000,
    about: 'How long a transaction may take (transaction_timeout, PostgreSQL 17 and later)',
    project: 'it says how the database is reached',
  },
  'postgres.idle-transaction-timeout-ms': {
    kind: 'integer',
    default: 5_000,
    min: 100,
    max: 600_000,
    about: 'How long a daemon that stands still keeps its locks (idle_in_transaction_session_timeout)',
    project: 'it says how the database is reached',
  },
  'postgres.sslmode': {
    kind: 'string',
    choices: ['disable', 'no-verify', 'verify-ca', 'verify-full'],
    about:
      'TLS to PostgreSQL: disable, no-verify, verify-ca or verify-full (default: what the URL says, else verify-full where a certificate is set, else disable)',
    project: 'it says how the database is reached',
  },
  'postgres.sslrootcert': {
    kind: 'string',
    pattern: FILE_PATH,
    about: "File (PEM) with the authorities that may sign the server's certificate (default: those of Node.js)",
    project: 'it says how the database is reached',
  },
  'postgres.sslcert': {
    kind: 'string',
    pattern: FILE_PATH,
    about: 'File (PEM) with the client certificate',
    project: 'it says how the database is reached',
  },
  'postgres.sslkey': {
    kind: 'string',
    pattern: FILE_PATH,
    about: 'File (PEM, 0600) with the key of the client certificate',
    project: 'it says how the database is reached',
  },
  'encryption-key': {
    kind: 'string',
    secret: true,
    about: '32 bytes in base64 or hex; required with PostgreSQL',
    project: 'it is a secret',
  },
  'operator-key': {
    kind: 'string',
    secret: true,
    pattern: { is: /^svc_(?:live|test)_[0-9A-Za-z]{32}$/, about: 'svc_live_ and 32 letters or digits' },
    about:
      "The local operator's key, the same for daemons that share a database (default: made once, `operator.key` in the data folder)",
    project: 'it is a secret',
  },
  'public-url': {
    kind: 'string',
    about: 'Public https address of this service, for links in its answers',
    project: 'tokens point there for good',
  },
  'cors-origins': {
    kind: 'list',
    pattern: { is: /^(?:\*|https?:\/\/[^/\s@?#]+)$/, about: 'origins like https://app.example.com, or *' },
    about: 'Origins whose pages a browser lets call this API, or * for any; none unless set',
    project: 'it opens this API to web pages',
  },
  'claim-pages': {
    kind: 'boolean',
    default: false,
    about: 'Serve what claim pages need, without a key: the page of each stored airdrop, and its sponsored claims',
    project: 'it opens this machine to everybody',
  },
  'claim-page-rpc-url': {
    kind: 'string',
    pattern: { is: /^https?:\/\/[^\s@]+$/, about: 'a URL like https://rpc.example.com, without a user name' },
    about: 'Node that claim pages of this daemon ask; everybody can read it, so it is never taken from rpc-url',
    project: 'it is shown to everybody',
  },
  'claim-page-config': {
    kind: 'string',
    about:
      'JSON file with name, logo, colours, texts and nodes of the claim pages of this daemon (docs/claim-pages.md)',
    project: 'it names a file of this machine',
  },
  'claim-origins': {
    kind: 'list',
    pattern: { is: /^(?:\*|https?:\/\/[^/\s@?#]+)$/, about: 'origins like https://claim.example.com, or *' },
    about: 'Origins of claim pages hosted elsewhere that may ask for sponsored claims, or * for any; none unless set',
    project: 'it opens this machine to web pages',
  },
  'trusted-proxies': {
    kind: 'integer',
    default: 0,
    min: 0,
    max: 8,
    about: 'Proxies in front of this daemon, whose X-Forwarded-For says who asks; 0 believes none',
    project: 'it says whom this machine believes',
  },
  'body-limit-mib': {
    kind: 'integer',
    default: 16,
    min: 1,
    max: 1024,
    about: 'Largest body of a merkle tree, or of a pool with its image, in MiB',
    project: true,
    reload: true,
  },
  'json-limit-kib': {
    kind: 'integer',
    default: 256,
    min: 64,
    max: 16_384,
    about: 'Largest body of any other request in KiB',
    project: true,
    reload: true,
  },
  'header-timeout-seconds': {
    kind: 'integer',
    default: 20,
    min: 1,
    max: 60,
    about: 'How long a client may take to send the headers of a request',
    project: true,
  },
  'request-timeout-seconds': {
    kind: 'integer',
    default: 60,
    min: 1,
    max: 60,
    about: 'How long a client may take to send a request with its body',
    project: true,
  },
  'max-connections': {
    kind: 'integer',
    default: 1_024,
    min: 8,
    max: 65_535,
    about: 'Most connections at a time; further ones are closed at once',
    project: true,
    reload: true,
  },
  'drain-seconds': {
    kind: 'integer',
    default: 0,
    min: 0,
    max: 300,
    about: 'How long a daemon that was told to stop still takes requests while /ready says no',
    project: 'it says how long a daemon goes on that was told to stop',
    reload: true,
  },
  'idempotency-hours': {
    kind: 'integer',
    default: 24,
    min: 1,
    max: 720,
    about: 'How long an Idempotency-Key is remembered',
    project: 'it says how long nothing is signed twice',
  },
  'retention.events-days': {
    kind: 'integer',
    default: 0,
    min: 0,
    max: 36_500,
    about: 'How long events are stored, in days; 0 for good',
    project: 'it says what is removed',
  },
  'retention.deliveries-days': {
    kind: 'integer',
    default: 30,
    min: 0,
    max: 36_500,
    about: 'How long attempts of webhook deliveries are listed, in days; 0 for good',
    project: 'it says what is removed',
  },
  'retention.transaction-bytes-days': {
    kind: 'integer',
    default: 0,
    min: 0,
    max: 36_500,
    about: 'How long the signed bytes of a transaction that has ended are stored, in days; 0 for good',
    project: 'it says what is removed',
  },
  'retention.trees-days': {
    kind: 'integer',
    default: 0,
    min: 0,
    max: 36_500,
    about: 'How long the leaves of a merkle tree are stored after its airdrop was drained, in days; 0 for good',
    project: 'it says what is removed',
  },
  'retention.signings-days': {
    kind: 'integer',
    default: 0,
    min: 0,
    max: 36_500,
    about: 'How long ended signings of the platform wallet are stored, in days, at least 31; 0 for good',
    project: 'it says what is removed',
  },
  'retention.schedule-runs-days': {
    kind: 'integer',
    default: 90,
    min: 0,
    max: 36_500,
    about: 'How long runs of fee schedules are listed after their end, in days; 0 for good',
    project: 'it says what is removed',
  },
  'retention.holder-snapshots-days': {
    kind: 'integer',
    default: 90,
    min: 0,
    max: 36_500,
    about: 'How long snapshots of holders are stored, in days; 0 for good',
    project: 'it says what is removed',
  },
  'rate-per-minute': {
    kind: 'integer',
    default: 120,
    min: 1,
    max: 1_000_000_000,
    about: 'Requests a minute of a new key',
    project: true,
    reload: true,
  },
  'rate-per-day': {
    kind: 'integer',
    default: 50_000,
    min: 1,
    max: 1_000_000_000,
    about: 'Requests a day of a new key',
    project: true,
    reload: true,
  },
  'log-level': {
    kind: 'string',
    default: 'info',
    choices: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    about: 'fatal, error, warn, info, debug, trace or silent',
    project: true,
    reload: true,
  },
  'webhooks.allow-private': {
    kind: 'boolean',
    default: false,
    about: 'Allow http and private addresses as webhook receivers (development only)',
    project: 'it opens the network behind this machine',
    reload: true,
  },
  'webhooks.max-per-key': {
    kind: 'integer',
    default: 100,
    min: 1,
    max: 100_000,
    about: 'Most webhook subscriptions of an API key; a key with * has no limit of its own',
    project: 'it bounds what API keys may do',
    reload: true,
  },
  'webhooks.max': {
    kind: 'integer',
    default: 10_000,
    min: 1,
    max: 1_000_000,
    about: 'Most webhook subscriptions of this installation',
    project: 'it bounds what API keys may do',
    reload: true,
  },
  'webhooks.ports': {
    kind: 'list',
    default: ['443', '8443'],
    about: 'Ports that webhook receivers may listen on; with webhooks.allow-private any port will do',
    project: 'it opens the network behind this machine',
    reload: true,
  },
  url: {
    kind: 'string',
    projectChoicesReason: 'what a transaction does is read from that node before it is signed',
    urlOr: ['embedded', 'mainnet-beta', 'm', 'devnet', 'd', 'testnet', 't', 'localhost', 'l'],
    private: true,
    about:
      'Cluster: embedded, mainnet-beta (m), devnet (d), testnet (t), localhost (l) or an RPC URL (default: what the Solana CLI is set to, else embedded)',
    project: true,
  },
  'rpc-urls': {
    kind: 'endpoints',
    private: true,
    about:
      'Several RPC endpoints of one cluster in place of one `url`: URLs with commas between, or JSON with weights and headers (docs/nodes.md)',
    project: 'what a transaction does is read from those nodes before it is signed',
  },
  'public-rpc-url': {
    kind: 'string',
    urlOr: [],
    about: 'RPC URL that answers show to clients as `rpc_endpoint`',
    project: 'clients send their transactions there',
  },
  'rpc-port': {
    kind: 'integer',
    default: 8899,
    min: 0,
    max: 65534,
    about: 'Port of the embedded chain (its WebSocket is on the next); 0 takes any',
    project: true,
  },
  'rpc-host': {
    kind: 'string',
    default: '127.0.0.1',
    about: 'Address that the embedded chain listens on; whoever reaches it can move its clock and its money',
    project: 'it says who can reach this machine',
  },
  'programs-dir': {
    kind: 'string',
    about: 'Program cache of the embedded chain (default: svc/programs in the XDG cache folder)',
    project: 'programs are run from there and written there',
  },
  'priority-fee': {
    kind: 'string',
    default: 'auto',
    // Nineteen digits always fit into the 64 bits of the instruction's field.
    pattern: { is: /^(?:auto|none|\d{1,19})$/, about: 'auto, none or micro-lamports per compute unit in digits' },
    about: 'Priority fee of built transactions: auto (from recent fees), none, or micro-lamports per compute unit',
    project: 'it says what a transaction pays',
    reload: true,
  },
  'priority-fee-cap': {
    kind: 'integer',
    default: 1_000_000,
    min: 0,
    about: 'Most lamports of priority fee for one transaction',
    project: 'it says what a transaction pays',
    reload: true,
  },
  'relay-url': {
    kind: 'string',
    urlOr: [],
    private: true,
    about: 'Jito block engine that bundles go to; the embedded chain has its own',
    project: 'signed transactions are sent there',
  },
  'metadata-url': {
    kind: 'string',
    urlOr: [],
    private: true,
    about: 'DAS provider (getAsset) that token metadata is read from',
    project: 'its key is sent there',
  },
  signer: {
    kind: 'string',
    default: 'none',
    choices: ['none', 'keypair', 'vault', 'turnkey', 'privy', 'aws-kms'],
    about: 'Who signs for the service: none, keypair, vault, turnkey, privy or aws-kms',
    project: 'it says who signs, and where',
  },
  'signer.cluster': {
    kind: 'string',
    default: 'any',
    choices: ['any', 'embedded', 'mainnet-beta', 'devnet', 'testnet'],
    about: 'The one cluster that the signer signs for: any, embedded, mainnet-beta, devnet or testnet',
    project: 'it says who signs, and where',
  },
  'signer.public-key': {
    kind: 'string',
    // The pattern rejects anything longer than an address, so that a secret key, which is twice as long in base58, is
    // never printed.
    pattern: { is: /^[1-9A-HJ-NP-Za-km-z]{32,44}$/, about: 'a base58 address' },
    about: "The signer's address; with `keypair` it may be left out",
    project: 'it says who signs, and where',
  },
  'signer.keypair': {
    kind: 'string',
    pattern: {
      is: /^(?!\s*\[)(?![1-9A-HJ-NP-Za-km-z]{80,}$)[^\0]+$/,
      about: 'the path of a keypair file, never the key itself',
    },
    about: 'Keypair file (0600) as `solana-keygen new` writes it, for `keypair`',
    project: 'it says who signs, and where',
  },
  'signer.vault-url': {
    kind: 'string',
    urlOr: [],
    private: true,
    about: 'Address of HashiCorp Vault',
    project: 'it says who signs, and where',
  },
  'signer.vault-key': {
    kind: 'string',
    pattern: PATH_PART,
    about: 'Name of the ed25519 key in the transit engine of Vault, mounted at `transit`',
    project: 'it says who signs, and where',
  },
  'signer.vault-token': {
    kind: 'string',
    secret: true,
    about: 'Token of Vault that may sign with the key',
    project: 'it is a secret',
  },
  'signer.turnkey-organization': {
    kind: 'string',
    about: 'Organization id at Turnkey',
    project: 'it says who signs, and where',
  },
  'signer.turnkey-key': {
    kind: 'string',
    about: 'Private key id, or the address of a wallet account, at Turnkey',
    project: 'it says who signs, and where',
  },
  'signer.turnkey-api-public-key': {
    kind: 'string',
    pattern: { is: /^0[23][0-9a-fA-F]{64}$/, about: 'a compressed P-256 public key: 66 hex digits' },
    about: 'Public half of the API key at Turnkey, in hex',
    project: 'it says who signs, and where',
  },
  'signer.turnkey-api-private-key': {
    kind: 'string',
    secret: true,
    pattern: { is: /^[0-9a-fA-F]{64}$/, about: '64 hex digits' },
    about: 'Private half of the API key at Turnkey, in hex',
    project: 'it is a secret',
  },
  'signer.turnkey-url': {
    kind: 'string',
    default: 'https://api.turnkey.com',
    urlOr: [],
    private: true,
    about: 'Address of the API of Turnkey',
    project: 'it says who signs, and where',
  },
  'signer.privy-app': { kind: 'string', about: 'App id at Privy', project: 'it says who signs, and where' },
  'signer.privy-secret': { kind: 'string', secret: true, about: 'App secret at Privy', project: 'it is a secret' },
  'signer.privy-wallet': {
    kind: 'string',
    pattern: PATH_PART,
    about: 'Wallet id at Privy',
    project: 'it says who signs, and where',
  },
  'signer.privy-url': {
    kind: 'string',
    default: 'https://api.privy.io/v1',
    urlOr: [],
    private: true,
    about: 'Address of the API of Privy',
    project: 'it says who signs, and where',
  },
  'signer.aws-key': {
    kind: 'string',
    about: 'Id or ARN of the ECC_NIST_EDWARDS25519 key in AWS KMS',
    project: 'it says who signs, and where',
  },
  'signer.aws-region': {
    kind: 'string',
    about: 'Region of the key (default: what the AWS tools are set to)',
    project: 'it says who signs, and where',
  },
  'signer.aws-access-key': {
    kind: 'string',
    about: 'AWS access key id (default: the credentials that the AWS tools find)',
    project: 'it says who signs, and where',
  },
  'signer.aws-secret-key': {
    kind: 'string',
    secret: true,
    about: 'Secret of the AWS access key',
    project: 'it is a secret',
  },
  'signer.aws-session-token': {
    kind: 'string',
    secret: true,
    about: 'Session token of a temporary AWS access key',
    project: 'it is a secret',
  },
  'platform-wallet': {
    kind: 'string',
    pattern: { is: /^[1-9A-HJ-NP-Za-km-z]{32,44}$/, about: 'a base58 address' },
    about: 'Address that fees of pools belong to (default: the signer)',
    project: 'fees are paid to it',
  },
  'pools.presets': {
    kind: 'string',
    about: 'JSON file with named curves beside the built-in `standard`',
    project: 'it says how a launch divides its money',
  },
  'pools.preset': {
    kind: 'string',
    default: 'standard',
    about: 'Curve of a pool whose creation names none',
    project: true,
  },
  'pools.pending-minutes': {
    kind: 'integer',
    default: 30,
    min: 1,
    max: 10_080,
    about: 'How long after its last transaction ended a pool that is not on chain counts as failed',
    project: true,
    reload: true,
  },
  'pools.ticker-cooldown-hours': {
    kind: 'integer',
    default: 24,
    min: 0,
    max: 8_760,
    about: 'How long a ticker stays taken by a pool that did not fail; 0 lets any pool have it',
    project: true,
    reload: true,
  },
  'pools.crank': {
    kind: 'boolean',
    default: false,
    about: 'Let the platform wallet send the migration transactions of full curves',
    project: 'the platform wallet pays for it',
    reload: true,
  },
  'reconciliation.calls-per-minute': {
    kind: 'integer',
    default: 300,
    min: 0,
    max: 60_000,
    about: 'Most calls to the node by which each minute is searched for what was done past this service; 0 for none',
    project: 'with 0, nothing that is done past this service is found',
    reload: true,
  },
  'gold.mint': {
    kind: 'string',
    pattern: { is: /^[1-9A-HJ-NP-Za-km-z]{32,44}$/, about: 'a base58 address' },
    about: 'Mint of the gold token that wallets can lock',
    project: 'wallets lock their tokens by it',
  },
  'nfts.cosign-collections': {
    kind: 'list',
    default: [],
    pattern: { is: /^[1-9A-HJ-NP-Za-km-z]{32,44}$/, about: 'base58 addresses' },
    about: 'Collections whose mints the platform wallet signs too, as their update authority or delegate',
    project: 'the platform wallet signs for them',
  },
  'stakes.freeze-authority': {
    kind: 'string',
    default: 'owner',
    choices: ['owner', 'platform'],
    about:
      'Who can release a stake: its owner, or platform: the owner and the platform wallet together (its key must never be lost)',
    project: 'it says who can release a stake',
  },
  'relay-tip': {
    kind: 'integer',
    default: 10_000,
    min: 0,
    max: 100_000_000,
    about: 'Lamports that the last transaction of a launch pays the relay, where relay-url is set',
    project: 'it says what a transaction pays',
    reload: true,
  },
  'price-url': {
    kind: 'string',
    urlOr: [],
    private: true,
    about: 'URL of a JSON document with the price of SOL in US dollars',
    project: 'its key is sent there',
  },
  'price-field': {
    kind: 'string',
    default: 'price',
    about: 'Where the price stands in that document, like data.SOL.usd',
    project: 'prices are read by it',
  },
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
  api: {
    kind: 'string',
    about: 'URL of the daemon that commands talk to (default: the running local one, else none)',
    project: true,
  },
  'api-key-file': {
    kind: 'string',
    about: 'File (0600) with the bearer key for `api`',
    project: 'keys are read from there and sent away',
  },
  keypair: {
    kind: 'string',
    pattern: FILE_PATH,
    about: 'Wallet or keypair file (0600) that commands sign with without -k; in a profile a name or an absolute path',
    project: 'it says who signs',
  },
  output: {
    kind: 'string',
    default: 'table',
    choices: ['table', 'json', 'plain'],
    about: 'How answers are printed: table, json or plain',
    project: true,
  },
})

export type SettingName = keyof typeof SETTINGS
export const isSetting = (name: string): name is SettingName => Object.hasOwn(SETTINGS, name)
export const environmentName = (name: string) => `SVC_${name.toUpperCase().replace(/[.-]/g, '_')}`
/** The variable that names a file with the value; undefined for a setting that is no secret and holds none. */
export function fileVariable(name: SettingName): string | undefined {
  const { secret, private: isPrivate }: Setting = SETTINGS[name]
  return secret || isPrivate ? `${environmentName(name)}_FILE` : undefined
}
interface Kinds {
  string: string
  integer: number
  boolean: boolean
  list: string[]
  endpoints: RpcEndpoint[]
}
type Value<S extends { kind: Kind }> = Kinds[S['kind']]
export type Values = {
  [N in SettingName]:
    | Value<(typeof SETTINGS)[N]>
    | ((typeof SETTINGS)[N] extends { default: unknown } ? never : undefined)
}
