//! Tables of secrets and of what only looks like one; masks stay masks, arguments stay JSON.

use super::*;

fn masked(text: &str) -> (String, BTreeMap<&'static str, usize>) {
    let mut masker = Masker::new().expect("patterns compile");
    let mut text = text.to_owned();
    masker.replace(&mut text);
    (text, masker.counts)
}

fn masked_arguments(arguments: &str) -> String {
    let mut masker = Masker::new().expect("patterns compile");
    let mut arguments = arguments.to_owned();
    masker.arguments(&mut arguments);
    arguments
}

const JWT: &str = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P";

/// Kind, and a text in which the secret stands between guillemets.
const ISSUED: &[(&str, &str)] = &[
    ("api_key", "use «sk-ant-api03-Ab12Cd34Ef56Gh78Ij90» now"),
    ("api_key", r"key:\n«sk-ant-api03-Ab12Cd34Ef56Gh78Ij90»\n"),
    ("api_key", "«xai-Ab12Cd34Ef56Gh78Ij90Kl12»"),
    ("api_key", "«gsk_Ab12Cd34Ef56Gh78Ij90Kl12»"),
    ("github", "«ghp_abcdefghij0123456789ABCDEFGHIJ012345»"),
    ("github", "x «github_pat_11ABCDEFG0abcdefghijkl_mn» y"),
    ("gitlab", "«glpat-Ab12Cd34Ef56Gh78Ij90»"),
    ("aws", "«AKIAIOSFODNN7EXAMPLE»"),
    ("slack", "«xoxb-123456789012-abcdefABCDEF»"),
    ("slack", "https://hooks.slack.com/services/«T00000000/B00000000/abcdefABCDEF0123456789ab»"),
    ("sendgrid", "«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»"),
    ("google", "«GOCSPX-Ab12Cd34Ef56Gh78Ij90Kl12»"),
    ("google", "«ya29.a0AfH6SMBx-Ab12Cd34Ef56Gh78Ij90»"),
    ("pypi", "«pypi-AgEIcHlwaS5vcmcCJDAxMjM0NTY3»"),
    ("digital_ocean", "«dop_v1_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef»"),
    ("private_key", "«AGE-SECRET-KEY-1QQPQYRGWNXYZ0123456789ABCDEFGH»"),
    ("shopify", "«shpat_0123456789abcdef0123456789abcdef»"),
    ("docker", "«dckr_pat_Ab12Cd34Ef56Gh78Ij90Kl1»"),
    ("vault", "«hvs.CAESIAb12Cd34Ef56Gh78Ij90»"),
    ("private_key", "a «-----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY-----» b"),
    ("private_key", "cut «-----BEGIN PRIVATE KEY-----\nMIIB»"),
    ("private_key", "    1→«-----BEGIN EC PRIVATE KEY-----\n    2→MIIB+/0=\n    3→-----END EC PRIVATE KEY-----»\n"),
    (
        "private_key",
        "«-----BEGIN PRIVATE KEY-----\\nMIIBVQIBADANBgkqhkiG9w0BAQEFAASCAT8wggE7AgEAAkEA»... [300 lines left out]",
    ),
    (
        "authorization",
        "Authorization: AWS4-HMAC-SHA256 «Credential=0key0/20220524/us-east-1/x/aws4_request», SignedHeaders=host",
    ),
    ("bearer", "Authorization: Bearer «abcdef0123456789abcdef»"),
    ("basic", "Authorization: Basic «dXNlcjpwYXNzd29yZA==»"),
    ("basic", "curl -H 'Authorization: Basic «dXNlcjpwdw==»' https://example.com"),
    ("authorization", r#"{\"Authorization\": \"Token «abcdef0123456789»\"}"#),
    ("url_login", "postgres://app:«pa55w0rd»@db:5432/x"),
    ("url_login", "redis://:«hunter-two»@cache:6379/0"),
    ("url_login", "git clone https://«0123456789abcdef0123456789abcdef01234567»@github.com/a/b.git"),
    ("command_line", "curl -s -u admin:«hunter» https://example.com"),
    ("command_line", "curl \\\n  --user 'admin:«p$ss(w{rd»' https://example.com"),
    ("command_line", "mysql -h db -uroot -p«hunter» shop"),
    ("command_line", "mysqldump -u root -p'«hunter»' shop"),
    ("command_line", "sshpass -p «hunter» ssh host"),
    ("command_line", "redis-cli -h cache -a «hunter» ping"),
];

const NAMED: &[(&str, &str)] = &[
    ("password", "password=«hunter22»"),
    ("password", r#"{"api_key": "«correcthorsebattery»"}"#),
    ("password", r#"{\"password\": \"«correcthorse»\"}"#),
    ("password", "DB_PASSWORD: «s3cr3t-val»"),
    ("password", "SECRET_KEY = '«django-insecure-words»'"),
    ("password", "PGPASSWORD=«hunter» psql -h db"),
    ("password", "export MYSQL_ROOT_PASSWORD=«correct»; start"),
    ("password", r"A=1\nDB_PASSWORD=«letters»\nB=2"),
    ("password", "SMTP_PASS=«hunter»"),
    ("password", r#"password = "«p@$s{w(o<r*d»""#),
    ("password", r#"password: str = "«hunter!two»""#),
    ("password", "password := `«hunter!two»`"),
    ("password", r#"connect(password=b"«hunter!two»")"#),
    ("password", "\"pwd\": \"«hunter!two»\""),
    ("password", "pass: «hunter22»"),
    ("password", "passwd = «hunter22»"),
    ("password", "\"credentials\": \"«hunter!two»\""),
    ("password", "\"signingKey\": \"«hunter!two»\""),
    ("password", "encryption_key: «k3y-of-22»"),
    ("password", "clientSecret: '«hunter!two»'"),
    ("password", "the API key: «k3y0of22»"),
    ("password", "cut in the middle: password=\"«hunter!two»"),
    ("password", "app --password «hunter» --verbose"),
    ("password", "app --db-password=«hunter»"),
    ("password", "app --api-key '«hunter!two»'"),
    ("password", "- name: DB_PASSWORD\n  value: «hunter»"),
    ("password", r#"{"name":"db_password","value":"«hunter!two»"}"#),
    ("password", r#"{"Key": "ApiKey", "Value": "«hunter!two»"}"#),
    ("password", "AccountName=x;AccountKey=«k3y/of+22==»;Suffix=y"),
    ("token", "access_token: «0123456789abcdef0123»"),
    ("token", "GITHUB_TOKEN=«0123456789abcdef0123»"),
    ("token", r#"{"token": "«0123456789abcdef0123»"}"#),
    ("token", r#"{"accessToken": "«hunter-two»", "max_tokens": 4096}"#),
    ("token", "auth_token='«hunter-two»'"),
    ("token", "refreshToken: «a1b2c3d4e5f6»"),
    ("token", "app --token «a1b2c3d4e5f6»"),
    ("token", "password: token: «0123456789abcdef0123»"),
];

const HARMLESS: &[&str] = &[
    "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    "uuid 62e0bdc0-a1e4-4d5c-8509-3b9d0d57cc67",
    "toolu_019okXfjnUzJkV2VZbndx6ik call_oIHazX6yQrB8hUwl4cRilFKj",
    "credit_card_4421486 certificate_7504069",
    "const password = process.env.DB_PASSWORD1;",
    "password: string; apiKey: getKey(12345)",
    "the password must be at least 8 characters",
    r#""password": "required""#,
    r#"{"errors": {"password": "is too short (minimum is 8 characters)"}}"#,
    "apiKey=${API_KEY_1}",
    r#"API_KEY="$API_KEY_1" DB_PASSWORD=$DB_PASS DB_PASSWORD=$(cat /run/x)"#,
    r#"password: "{{ vault_password_1 }}", secret: "<your secret 1>""#,
    "PASSWORD=config.password TOKEN=settings.token1",
    "see sk-learn-estimators-and-their-docs",
    "sk-e2e-tests-for-checkout-flow-2024",
    "pypi-publish-action-for-2024",
    "bearer of the responsibilities, basic authentication, Basic usage1234",
    "https://example.com:8080/a@b",
    "api_key: YOUR_API_KEY_1",
    r#""next_page_token": "CAUQAA0123456789abcdef", "nextToken": "CAUQAA0123456789""#,
    "max_tokens: 4096, token: 17, token_count=123456789012, tokens: abc123def456789",
    "password: userInput1",
    "let apiKey = config.apiKey2",
    "access_key: user_id_column_1",
    "secret: ref:vault/path1",
    r#"secret: "projects/shop/secrets/db-1""#,
    "PWD=/home/ada/shop2 OLDPWD=/home/ada",
    "--- PASS: TestCheckout2 (0.00s)",
    "bypass: route66x compass=north12",
    "fetch(url, { credentials: \"same-origin\" }) or credentials: 'include'",
    "use the --password option, or --password with a file",
    "docker run -u 1000:1000 image; curl -u $USER:$PASS https://example.com",
    "mysql -p shop; mysql -p$PW -P 3306",
    r#""password": "********", "secret": "[REDACTED]""#,
    r#"if (password === other.password2) { token = next() }"#,
    "starts with -----BEGIN PRIVATE KEY-----, see `load_pem(path)`; what follows stays",
    "pub const STATUS_NO_SECRETS: NTSTATUS = 0xC0000371_u32 as _; const CREDS: u32 = 65536u32;",
    r#"REFRESH_TOKEN = "REFRESH_TOKEN"; password = f"{registry_id}-auth-7"; SECRET = "%(secret)s""#,
    r#"{"pass_to_pass": ["tests/test_sql.py::test_1[sqlite]"]}"#,
    "Go writes a \\u003c b \\u0026 c",
];

#[test]
fn secrets_are_masked() {
    let jwt = format!("«{JWT}»");
    for (kind, marked) in ISSUED.iter().chain(NAMED).chain(&[("jwt", jwt.as_str())]) {
        let (before, rest) = marked.split_once('«').expect("a secret begins");
        let (secret, after) = rest.split_once('»').expect("a secret ends");
        let (text, counts) = masked(&format!("{before}{secret}{after}"));
        assert_eq!(text, format!("{before}[masked:{kind}:1]{after}"), "{marked}");
        assert_eq!(counts, BTreeMap::from([(*kind, 1)]), "{marked}");
    }
}

#[test]
fn what_is_no_secret_stays() {
    for text in HARMLESS {
        assert_eq!(masked(text), ((*text).to_owned(), BTreeMap::new()));
    }
}

#[test]
fn escapes_hide_no_secret() {
    for (text, expected) in [
        (r"sk\u002dant\u002dapi03\u002dAb12Cd34Ef56Gh78Ij90", "[masked:api_key:1]"),
        (r"x sk-ant-api03-Ab12Cd34Ef56\\u002DGh78Ij90Kl12 \u00e9", r"x [masked:api_key:1] \u00e9"),
        (r#"{\u0022password\u0022: \u0022hunter!two\u0022}"#, r#"{"password": "[masked:password:1]"}"#),
    ] {
        assert_eq!(masked(text).0, expected);
    }
}

#[test]
fn every_text_of_a_list_is_masked() {
    let (text, _) = masked(r#"{"apiKeys": ["hunter!one", "hunter!two"], "names": ["hunter!one"]}"#);
    assert_eq!(text, r#"{"apiKeys": ["[masked:password:1]", "[masked:password:2]"], "names": ["hunter!one"]}"#);
}

#[test]
fn equal_secrets_stay_equal_and_masking_twice_changes_nothing() {
    let (once, _) = masked("password=hunter22 then password=hunter22 or password=hunter33");
    let masks = once.split("password=").skip(1).map(|rest| rest.split_whitespace().next()).collect::<Vec<_>>();
    assert_eq!(masks[0], masks[1]);
    assert_ne!(masks[0], masks[2]);
    assert_eq!(masked(&once), (once.clone(), BTreeMap::new()));
    // The colon of a mask parts no user from a password.
    let (once, _) = masked("curl -utoken=aaaa00a0a000password");
    assert_eq!(masked(&once), (once.clone(), BTreeMap::new()));
}

proptest::proptest! {
    #[test]
    fn masks_are_no_secrets(
        text in r#"(?:password|DB_PASSWORD|--token|api_key|name|value|token|Bearer|Authorization|curl -u|://|\\u002d|\\n|[ =:@"'\\\[\]$]|[a-z0-9]{1,20}){0,20}"#
    ) {
        let (once, _) = masked(&text);
        proptest::prop_assert_eq!(masked(&once), (once.clone(), BTreeMap::new()));
    }
}

#[test]
fn arguments_stay_json() {
    let arguments = masked_arguments(
        r#"{"cmd": "export API_KEY='ab\"c'; curl -H 'Bearer abcdef0123456789abcdef'", "password": "a b\"c{", "secret":"plainsecret", "n": 1.0}"#,
    );
    let value: Value = serde_json::from_str(&arguments).expect("still JSON");
    assert_eq!(value["n"], 1.0);
    assert!(value["cmd"].as_str().expect("a string").contains("Bearer [masked:bearer:"), "{arguments}");
    assert!(value["secret"].as_str().expect("a string").starts_with("[masked:password:"), "{arguments}");
    assert!(value["password"].as_str().expect("a string").starts_with("[masked:password:"), "{arguments}");
    let plain = r#"{ "path" : "a/b.txt" }"#;
    assert_eq!(masked_arguments(plain), plain);
}

#[test]
fn named_fields_of_arguments_are_masked() {
    for (arguments, expected) in [
        (r#"{"accessToken":"hunter!two"}"#, r#"{"accessToken":"[masked:token:1]"}"#),
        (r#"{"auth":{"pass":"hunter!two","user":"ada"}}"#, r#"{"auth":{"pass":"[masked:password:1]","user":"ada"}}"#),
        (r#"{"db_pwd":"hunter$(two"}"#, r#"{"db_pwd":"[masked:password:1]"}"#),
        (
            r#"{"apiKeys":["hunter!one",{"x":"y"},"hunter!two"]}"#,
            r#"{"apiKeys":["[masked:password:1]",{"x":"y"},"[masked:password:2]"]}"#,
        ),
        (r#"{"name":"DB_PASSWORD","value":"hunter!two"}"#, r#"{"name":"DB_PASSWORD","value":"[masked:password:1]"}"#),
        (r#"{"Authorization":"Token abcdef012345"}"#, r#"{"Authorization":"[masked:authorization:1]"}"#),
        (r#"{"x":"sk\\u002dant\\u002dapi03-Ab12Cd34Ef56Gh78Ij90"}"#, r#"{"x":"[masked:api_key:1]"}"#),
    ] {
        assert_eq!(masked_arguments(arguments), expected);
    }
    for plain in [
        r#"{"max_tokens":4096,"tokens":["abc123def456"],"token_count":"123456","token":"identifier"}"#,
        r#"{"password":12345678,"pwd":"/home/ada/shop","next_token":"abc123def456ghi"}"#,
        r#"{"name":"LOG_LEVEL","value":"debugging1"}"#,
        r#"{"password":"Enter your password","secret":"${DB_SECRET}","credentials":"include"}"#,
    ] {
        assert_eq!(masked_arguments(plain), plain);
    }
}
