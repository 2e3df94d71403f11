/** What is wrong with an OAuth request: an error code of the protocol, and a sentence for the person or the developer. */
export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_client_metadata'
  | 'invalid_grant'
  | 'invalid_redirect_uri'
  | 'invalid_target'
  | 'unsupported_grant_type'
  | 'unsupported_response_type';

export class OAuthError extends Error {
  readonly code: OAuthErrorCode;
  /** The URL back to the application, if known, with the error: for a link, as nobody is redirected without a click. */
  returnTo?: string;

  constructor(code: OAuthErrorCode, sentence: string, options?: ErrorOptions) {
    super(sentence, options);
    this.code = code;
  }

  /** The sentence in the characters of an error_description (RFC 6749, 5.2). */
  get description(): string {
    return this.message.replaceAll(/[“”"‘’]/g, "'").replaceAll(/[^ -~]|\\/g, '?');
  }
}
