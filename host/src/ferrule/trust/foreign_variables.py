"""Variables and keys that other programs on the machine go by: no tool is told one before the admin has said so.

A tool may name any variable as its credential. What it names first would be its own, were it not for these: the user
has set them for somebody else, and often they open more than what one tool is for. A tool that comes from the maker of
such a program waits for the admin's yes, too, since a package can say that it comes from anybody.
"""

from __future__ import annotations

MODELS = "programs that ask models"
CLOUDS = "the programs of a cloud"
BUILDS = "continuous integration"
INDEXES = "installers and package indexes"
DATABASES = "programs of a database"
AGENTS = "the agents that hold the user's keys"
HOSTS_OF_CODE = "programs of a host of code"
INFRASTRUCTURE = "programs that run containers and infrastructure"
PAYMENT = "programs that send messages or take payments"

OWNERS: dict[str, tuple[str, ...]] = {
    MODELS: (
        "AI21_API_KEY", "ANTHROPIC_*", "AZURE_OPENAI_*", "CEREBRAS_API_KEY", "CLAUDE_CODE_*", "COHERE_API_KEY",
        "CO_API_KEY", "DEEPSEEK_API_KEY", "FIREWORKS_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY",
        "GOOGLE_GENERATIVE_AI_API_KEY", "GROQ_API_KEY", "HF_HUB_TOKEN", "HF_TOKEN", "HUGGINGFACEHUB_API_TOKEN",
        "HUGGINGFACE_API_KEY", "HUGGING_FACE_HUB_TOKEN", "LANGCHAIN_API_KEY", "LANGFUSE_*", "LANGSMITH_API_KEY",
        "LITELLM_*", "MISTRAL_API_KEY", "MOONSHOT_API_KEY", "NVIDIA_API_KEY", "OPENAI_*", "OPENROUTER_API_KEY",
        "PERPLEXITY_API_KEY", "REPLICATE_API_TOKEN", "TOGETHER_API_KEY", "VOYAGE_API_KEY", "WANDB_API_KEY",
        "XAI_API_KEY", "ZAI_API_KEY", "llm.*",
    ),
    CLOUDS: (
        "ALIBABA_CLOUD_*", "ALICLOUD_*", "ARM_*", "AWS_*", "AZURE_*", "BOTO_CONFIG", "CLOUDFLARE_*", "CLOUDSDK_*",
        "CF_API_*", "DIGITALOCEAN_*", "DO_API_*", "FLY_API_TOKEN", "GCE_*", "GCLOUD_*", "GCP_*",
        "GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_*", "GOOGLE_CREDENTIALS", "GOOGLE_OAUTH_ACCESS_TOKEN",
        "HCLOUD_TOKEN", "HEROKU_API_KEY", "IBMCLOUD_*", "IDENTITY_*", "LINODE_*", "MSI_*", "NETLIFY_AUTH_TOKEN",
        "OCI_*", "OS_AUTH_*", "OS_PASSWORD", "OS_TOKEN", "OVH_*", "S3_*", "SCW_*", "VERCEL_*", "VULTR_API_KEY",
    ),
    HOSTS_OF_CODE: (
        "BITBUCKET_*", "CI_JOB_TOKEN", "GH_*", "GITEA_*", "GITHUB_*", "GITLAB_*", "GIT_*", "SOURCEHUT_*",
    ),
    BUILDS: (
        "ACTIONS_*", "APPVEYOR_*", "BUILDKITE_*", "CIRCLE_*", "CI_*", "CODECOV_TOKEN", "DRONE_*", "JENKINS_*",
        "RUNNER_*", "SONAR_TOKEN", "SYSTEM_ACCESSTOKEN", "TEAMCITY_*", "TRAVIS_*",
    ),
    INDEXES: (
        "BUNDLE_*", "CARGO_REGISTRIES_*", "CARGO_REGISTRY_*", "CONDA_TOKEN", "FLIT_PASSWORD", "GEM_HOST_API_KEY",
        "HATCH_INDEX_*", "NODE_AUTH_TOKEN", "NPM_AUTH_TOKEN", "NPM_CONFIG_*", "NPM_TOKEN", "NUGET_*", "PDM_PUBLISH_*",
        "PIP_*", "POETRY_*", "PYPI_*", "TWINE_*", "UV_*", "YARN_NPM_*", "npm_config_*",
    ),
    DATABASES: (
        "DATABASE_URL", "ELASTIC_*", "INFLUX_TOKEN", "MONGODB_URI", "MONGO_URL", "MOTHERDUCK_TOKEN", "MYSQL_*",
        "MYSQL_PWD", "PGPASSFILE", "PGPASSWORD", "PGSERVICEFILE", "POSTGRES_*", "REDISCLI_AUTH", "REDIS_PASSWORD",
        "REDIS_URL", "SNOWFLAKE_*", "SUPABASE_*", "motherduck_token",
    ),
    AGENTS: (
        "BW_*", "DBUS_SESSION_BUS_ADDRESS", "GNOME_KEYRING_*", "GNUPGHOME", "GPG_AGENT_INFO", "KRB5CCNAME",
        "KRB5_*", "NETRC", "OP_*", "SSH_*", "SUDO_ASKPASS", "VAULT_*", "XAUTHORITY",
    ),
    INFRASTRUCTURE: (
        "ANSIBLE_*", "CONSUL_*", "DOCKER_*", "HELM_*", "KUBECONFIG", "KUBE_*", "NOMAD_*", "PULUMI_*",
        "REGISTRY_AUTH_FILE", "TFE_TOKEN", "TF_*",
    ),
    PAYMENT: (
        "DATADOG_*", "DD_API_KEY", "DD_APP_KEY", "DISCORD_TOKEN", "MAILGUN_*", "NEW_RELIC_*", "SENDGRID_API_KEY",
        "SENTRY_*", "SLACK_*", "STRIPE_*", "TELEGRAM_BOT_TOKEN", "TWILIO_*",
    ),
}  # fmt: skip
"""Names, or the beginnings of names with an asterisk, by who goes by them."""

_OWNERS = {name: owner for owner, names in OWNERS.items() for name in names if name[-1] != "*"}
_BEGINNINGS = {name[:-1]: owner for owner, names in OWNERS.items() for name in names if name[-1] == "*"}


def owner_of(name: str) -> str | None:
    """Who goes by a variable or a key of the credentials file, in words; None for nobody that is known.

    The beginning of names with an asterisk belongs to who goes by all that begin so.
    """
    plain = name.removesuffix("*")
    if plain == name and name in _OWNERS:
        return _OWNERS[name]
    return next((owner for start, owner in _BEGINNINGS.items() if plain.startswith(start)), None)
