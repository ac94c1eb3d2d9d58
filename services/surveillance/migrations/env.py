"""What Alembic runs to migrate: on the connection that `migrating` gives it, in that connection's transaction."""

from alembic import context

from services.surveillance.schema import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
