"""`python -m tests.doctor`: writes the table of docs/settings.md anew."""

from tests.doctor.page import PAGE, written

if __name__ == "__main__":
    PAGE.write_text(written())
