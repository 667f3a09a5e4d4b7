/** Settings of the platform wallet and its signer. */
import { define, PATH_PART } from '../setting.ts'

export const signerSettings = define({
  signer: {
    kind: 'string',
    default: 'none',
    choices: ['none', 'keypair', 'vault', 'turnkey', 'privy', 'aws-kms'],
    about: 'Who signs for the service: none, keypair, vault, turnkey, privy or aws-kms',
    project: 'it decides who signs, and where',
  },
  'signer.cluster': {
    kind: 'string',
    default: 'any',
    choices: ['any', 'embedded', 'mainnet-beta', 'devnet', 'testnet'],
    about: 'The one cluster that the signer signs for: any, embedded, mainnet-beta, devnet or testnet',
    project: 'it decides who signs, and where',
  },
  'signer.public-key': {
    kind: 'string',
    // The pattern rejects anything longer than an address. A secret key is twice as long in base58, so it is never
    // printed.
    pattern: { is: /^[1-9A-HJ-NP-Za-km-z]{32,44}$/, about: 'a base58 address' },
    about: "The signer's address; optional with `keypair`",
    project: 'it decides who signs, and where',
  },
  'signer.keypair': {
    kind: 'string',
    pattern: {
      is: /^(?!\s*\[)(?![1-9A-HJ-NP-Za-km-z]{80,}$)[^\0]+$/,
      about: 'the path of a keypair file, never the key itself',
    },
    about: 'Keypair file (0600) as `solana-keygen new` writes it, for `keypair`',
    path: 'file',
    project: 'it decides who signs, and where',
  },
  'signer.vault-url': {
    kind: 'string',
    urlOr: [],
    private: true,
    about: 'Address of HashiCorp Vault',
    project: 'it decides who signs, and where',
  },
  'signer.vault-key': {
    kind: 'string',
    pattern: PATH_PART,
    about: 'Name of the ed25519 key in the transit engine of Vault, mounted at `transit`',
    project: 'it decides who signs, and where',
  },
  'signer.vault-token': {
    kind: 'string',
    secret: true,
    about: 'Vault token that may sign with the key',
    project: 'it is a secret',
  },
  'signer.turnkey-organization': {
    kind: 'string',
    about: 'Organization id at Turnkey',
    project: 'it decides who signs, and where',
  },
  'signer.turnkey-key': {
    kind: 'string',
    about: 'Private key id, or the address of a wallet account, at Turnkey',
    project: 'it decides who signs, and where',
  },
  'signer.turnkey-api-public-key': {
    kind: 'string',
    pattern: { is: /^0[23][0-9a-fA-F]{64}$/, about: 'a compressed P-256 public key: 66 hex digits' },
    about: 'Public half of the API key at Turnkey, in hex',
    project: 'it decides who signs, and where',
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
    project: 'it decides who signs, and where',
  },
  'signer.privy-app': { kind: 'string', about: 'App id at Privy', project: 'it decides who signs, and where' },
  'signer.privy-secret': { kind: 'string', secret: true, about: 'App secret at Privy', project: 'it is a secret' },
  'signer.privy-wallet': {
    kind: 'string',
    pattern: PATH_PART,
    about: 'Wallet id at Privy',
    project: 'it decides who signs, and where',
  },
  'signer.privy-url': {
    kind: 'string',
    default: 'https://api.privy.io/v1',
    urlOr: [],
    private: true,
    about: 'Address of the API of Privy',
    project: 'it decides who signs, and where',
  },
  'signer.aws-key': {
    kind: 'string',
    about: 'Id or ARN of the ECC_NIST_EDWARDS25519 key in AWS KMS',
    project: 'it decides who signs, and where',
  },
  'signer.aws-region': {
    kind: 'string',
    about: 'Region of the key (default: the setting of the AWS tools)',
    project: 'it decides who signs, and where',
  },
  'signer.aws-access-key': {
    kind: 'string',
    about: 'AWS access key id (default: the credentials that the AWS tools find)',
    project: 'it decides who signs, and where',
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
})
