"""What the columns of a list of the class are called, in each language: by platforms, and by people who write one.

Words stand as `squeezed` leaves them: small, letters and digits only. Of several columns of one kind the earlier word
here counts first.
"""

import unicodedata

from dpcourse.base.languages import ENGLISH
from dpcourse.grading.collect.reading import words

NAME, FIRST, LAST, NUMBER, LOGIN = "name", "first", "last", "number", "login"
LATE_DAYS, LANGUAGE = "late days", "language"

WORDS: dict[str, tuple[str, ...]] = {
    NAME: (
        "student", "name", "fullname", "studentname",
        "姓名", "学生姓名", "学生", "真实姓名", "全名", "名字",
    ),
    FIRST: ("firstname", "givenname", "名"),
    LAST: ("lastname", "surname", "familyname", "姓", "姓氏"),
    NUMBER: (
        "id", "identifier", "number", "userid", "studentid", "studentnumber",
        "标识符", "识别符", "识别号", "学号", "学生学号", "学号工号", "学工号", "学籍号", "学生编号", "编号", "用户id", "id号",
    ),
    LOGIN: (
        "sisloginid", "sisuserid", "login", "loginid", "username", "email", "emailaddress", "mail", "idnumber",
        "rosteridentifier", "github", "githubuser", "githubusername",
        "sis登录id", "sis用户id", "登录名", "登录账号", "登录id", "用户名", "账号", "帐号", "账户", "学生账号", "邮箱", "邮箱地址",
        "电子邮件", "电子邮件地址", "电子邮箱", "email地址", "邮件地址", "github用户名", "github账号",
    ),
    LATE_DAYS: ("latedays", "迟交天数", "可迟交天数", "晚交天数", "宽限天数"),
    LANGUAGE: ("language", "lang", "preferredlanguage", "语言", "首选语言", "反馈语言"),
}  # fmt: skip

NO_STUDENTS = ("pointspossible", "studenttest", "可能的分数", "满分", "测试学生")  # lines of Canvas' export
PARTICIPANT = r"^(?:\D+ |参与者|參與者)(?=\d+$)"  # Moodle's worksheet writes "Participant 1234"

LANGUAGES: dict[str, tuple[str, ...]] = {
    ENGLISH: ("english", "英文", "英语", "engb", "enus"),
    "zh": ("chinese", "中文", "汉语", "汉文", "简体中文", "中文简体", "普通话", "zhcn", "zhhans", "simplifiedchinese"),
}  # what people write for a language, beside its code


def squeezed(text: str) -> str:
    """Only letters and digits, and the signs of letters; small, and full-width signs as plain ones.

    >>> squeezed("Lee, Kim"), squeezed("SIS Login ID"), squeezed("学号/工号")
    ('leekim', 'sisloginid', '学号工号')
    """
    return "".join(words(unicodedata.normalize("NFKC", text).casefold()))


def places(header: list[str], kind: str) -> list[int]:
    """The columns of that kind, the best first.

    >>> places(["Email", "学号", "姓名", "ID"], NUMBER)
    [3, 1]
    """
    first = {squeezed(title): column for column, title in reversed(list(enumerate(header)))}
    return [first[word] for word in WORDS[kind] if word in first]


def language_of(text: str, there: list[str]) -> str | None:
    """The code of the language that somebody wrote, of those that are there; None where it is none of these.

    >>> language_of("中文", ["en", "zh"]), language_of("EN", ["en", "zh"]), language_of("Latin", ["en", "zh"])
    ('zh', 'en', None)
    """
    word = squeezed(text)
    return next((code for code in there if word == squeezed(code) or word in LANGUAGES.get(code, ())), None)
